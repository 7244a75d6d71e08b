/** What a harness has made for the test that runs. @throws Error when it is asked for while none does. */
export function there<T>(thing: T | undefined): T {
  if (thing === undefined) throw new Error('it is there only while tests run')
  return thing
}
