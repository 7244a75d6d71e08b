import type { PhoneNumber } from '../../service/src/kernel/phone.ts'
import type { Surroundings } from './program.ts'

/** What a check looks at. */
export type Subject = Pick<Surroundings, 'config'> & {
  /** The base address by which the carrier reaches the service. */
  publicUrl: string
  /** The number to look at; null when none is known. */
  phoneNumber: PhoneNumber | null
  /** The model and voice to try; null for the driver's own. */
  model: string | null
  voice: string | null
}

/** What a check found when it did not fail; a failing one throws. `todo` is what could still be done, a line for each. */
export type Finding = { state: 'ok' | 'skipped'; found: string; todo?: string }

/** One thing that a call needs, looked at by itself. */
export type Check = {
  name: string
  /** Checks that must be ok first: without them this one would only fail for the same reason. */
  needs: string[]
  limitMs: number
  /**
   * Looks. Gives up when the signal says so.
   * @throws Trouble when a call would fail; any other error is explained as it is.
   */
  run(subject: Subject, signal: AbortSignal): Promise<Finding>
}
