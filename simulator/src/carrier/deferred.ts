/** A promise and what settles it. (Node 20, on which the package runs too, has no `Promise.withResolvers`.) */
export type Deferred<T> = { promise: Promise<T>; resolve: (value: T) => void }

/** Makes a promise that is resolved from outside; only the first time counts. */
export function makeDeferred<T>(): Deferred<T> {
  let resolve: (value: T) => void = () => {}
  const promise = new Promise<T>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}
