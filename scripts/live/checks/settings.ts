import type { Config } from '../../../service/src/config.ts'
import { publicAddressFault } from '../addresses.ts'
import type { Check } from '../check.ts'
import { Trouble } from '../faults.ts'

const ACCOUNT_SID = /^AC[0-9a-f]{32}$/

/** Whether everything that a call needs is set, and looks as it should. */
export const settingsCheck: Check = {
  name: 'settings',
  needs: [],
  limitMs: 1_000,
  async run({ config }) {
    const faults = settingFaults(config)
    if (faults.length > 0) throw new Trouble('Not everything that a call needs is set.', faults.join('\n'))
    if (!config.simulator) return { state: 'ok', found: 'Everything that a call needs is set.' }
    return {
      state: 'ok',
      found: 'Everything that a call needs is set.',
      todo: 'SIMULATOR=on is for rehearsals: set it to off.',
    }
  },
}

function settingFaults(config: Config): string[] {
  const { telephonyAccountSid, modelApiKey } = config
  return [
    telephonyAccountSid === null && 'Set TELEPHONY_ACCOUNT_SID and TELEPHONY_AUTH_TOKEN: the account of the carrier.',
    telephonyAccountSid !== null &&
      !ACCOUNT_SID.test(telephonyAccountSid) &&
      'TELEPHONY_ACCOUNT_SID is AC and 32 of the characters 0-9 and a-f.',
    modelApiKey === null && 'Set OPENAI_API_KEY: the key of the model.',
    config.publicUrl === null &&
      publicAddressFault(config) !== null &&
      'Set PUBLIC_URL: the https address by which the carrier reaches this service, of your tunnel or proxy.',
  ].filter((fault) => typeof fault === 'string')
}
