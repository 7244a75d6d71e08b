import { asFailure } from '../api/failure.ts'

/** What is said in a field of choices that could not be read; undefined when they could, also if they could not be read again. */
export function unreadFault({ data, error }: { data?: unknown; error: unknown }, what: string): string | undefined {
  return data === undefined && error ? `${what} could not be read: ${asFailure(error).message}` : undefined
}

/** What the service said of one place of what was sent, such as `/body/name`; undefined when nothing is wrong there. */
export function faultAt(error: unknown, path: string): string | undefined {
  if (!error) return undefined
  return asFailure(error).faults.find((fault) => fault.path === path)?.message
}

/** What the service said of a field of what was sent, or of a part of that, whether it stood in the body, the query or the path. */
export function faultOf(error: unknown, name: string): string | undefined {
  if (!error) return undefined
  const place = new RegExp(`^/(body|query|path)/${name}(/|$)`)
  return asFailure(error).faults.find(({ path }) => place.test(path))?.message
}
