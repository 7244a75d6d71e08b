/**
 * What a program of a test gets of the test's own environment: where programs are found, and where Node keeps what it has
 * compiled, so that the hundred programs that tests start are not compiled a hundred times.
 */
export function childEnvironment(): NodeJS.ProcessEnv {
  const { PATH, NODE_COMPILE_CACHE } = process.env
  return { PATH, ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }) }
}
