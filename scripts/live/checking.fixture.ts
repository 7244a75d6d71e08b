import { type Config, readConfig } from '../../service/src/config.ts'
import { publicAddress } from './addresses.ts'
import type { Check, Subject } from './check.ts'
import { type Outcome, runChecks } from './run-checks.ts'
import { ACCOUNT, NUMBER } from './simulated.fixture.ts'

const ACCOUNTED = { TELEPHONY_ACCOUNT_SID: ACCOUNT.accountSid, TELEPHONY_AUTH_TOKEN: ACCOUNT.authToken }

/** Runs one check by itself, with the settings of a carrier account and these. */
export async function runCheck(
  check: Check,
  settings: Record<string, string>,
  more: Partial<Subject> = {},
): Promise<Outcome> {
  const config: Config = readConfig({ ...ACCOUNTED, ...settings })
  const subject = { config, publicUrl: publicAddress(config), phoneNumber: null, model: null, voice: null, ...more }
  const options = { totalMs: 30_000, tell: () => {} }
  const [outcome] = await runChecks([{ ...check, needs: [] }], subject, options)
  return outcome as Outcome
}

export const SUBJECT_NUMBER = NUMBER as Exclude<Subject['phoneNumber'], null>
