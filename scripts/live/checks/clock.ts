import type { Check } from '../check.ts'
import { Trouble } from '../faults.ts'
import { timed } from '../timed.ts'

/** Callbacks and webhooks are stamped, and receivers refuse stamps that are minutes off: half a minute is a broken clock. */
const MAX_SKEW_MS = 30_000
/** The header has whole seconds, cut off: on average half of one. */
const HALF_SECOND_MS = 500

/** Whether this machine's clock agrees with the carrier's. Needs no credentials. */
export const clockCheck: Check = {
  name: 'clock',
  needs: [],
  limitMs: 10_000,
  async run({ config }, signal) {
    const { value, ms } = await timed(fetch(config.telephonyApiUrl, { method: 'HEAD', redirect: 'manual', signal }))
    const theirsMs = Date.parse(value.headers.get('date') ?? '')
    if (Number.isNaN(theirsMs)) return { state: 'skipped', found: 'The carrier does not tell its time.' }
    const skewMs = Date.now() - ms / 2 - (theirsMs + HALF_SECOND_MS)
    const seconds = Math.round(Math.abs(skewMs) / 1_000)
    const told = `${seconds} s ${skewMs < 0 ? 'behind' : 'ahead of'} the carrier's.`
    if (Math.abs(skewMs) > MAX_SKEW_MS) {
      throw new Trouble(`This machine's clock is ${told}`, 'Let it be set by NTP (timedatectl set-ntp true).')
    }
    return { state: 'ok', found: seconds === 0 ? "Right to the second, by the carrier's." : `${told}` }
  },
}
