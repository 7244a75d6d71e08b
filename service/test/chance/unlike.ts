import { isDeepStrictEqual } from 'node:util'

/** What of a row is not as it should be; members that the model keeps for itself begin with `~`. */
export function unlikeRow(got: unknown, wanted: unknown): string[] {
  if (wanted === null || got === null || typeof wanted !== 'object' || typeof got !== 'object')
    return isDeepStrictEqual(got, wanted) ? [] : [`: ${JSON.stringify(got)} instead of ${JSON.stringify(wanted)}`]
  return Object.entries(wanted).flatMap(([name, value]) => {
    const own = (got as Record<string, unknown>)[name]
    return name.startsWith('~') || isDeepStrictEqual(own, value)
      ? []
      : [`${name} is ${JSON.stringify(own)} instead of ${JSON.stringify(value)}`]
  })
}
