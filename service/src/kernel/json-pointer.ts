/** What stands at a pointer (RFC 6901) that begins with a slash; null where nothing does. */
export function atPointer(root: unknown, pointer: string): unknown {
  const names = pointer.slice(1).split('/')
  const step = (at: unknown, name: string) =>
    typeof at === 'object' && at !== null && Object.hasOwn(at, name) ? (at as Record<string, unknown>)[name] : null
  return names.map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~')).reduce(step, root)
}

/** What a reference within a document (`#…`) names there: a pointer, or a name. */
export function fragmentOf(reference: string): string {
  const fragment = reference.slice(1)
  try {
    return decodeURIComponent(fragment)
  } catch {
    return fragment
  }
}
