/** The parts of prom-client's default metrics, one a file; the package types only the function that starts them all. */
declare module 'prom-client/lib/metrics/*' {
  const measure: (registry: import('prom-client').Registry) => void
  export = measure
}
