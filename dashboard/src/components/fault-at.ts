import { asFailure } from '../api/failure.ts'

/** What the service said of one place of what was sent, such as `/body/name`; undefined when nothing is wrong there. */
export function faultAt(error: unknown, path: string): string | undefined {
  if (!error) return undefined
  return asFailure(error).faults.find((fault) => fault.path === path)?.message
}
