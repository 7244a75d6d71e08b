import type { CarrierAccount } from '../../../service/src/platform/telephony/port.ts'
import { fetchAccount } from '../../../service/src/platform/telephony/twilio/account.ts'
import { makeNumberRequests } from '../../../service/src/platform/telephony/twilio/numbers.ts'
import { numberAddresses } from '../addresses.ts'
import { changesOf, numberSettings, unreachable } from '../changes.ts'
import type { Check, Subject } from '../check.ts'
import { Trouble } from '../faults.ts'
import { timed } from '../timed.ts'

const NO_ACCOUNT = { state: 'skipped', found: 'No account of a carrier is set.' } as const

/** Whether the carrier takes the credentials, and how the account stands. */
export const accountCheck: Check = {
  name: 'carrier account',
  needs: [],
  limitMs: 10_000,
  async run({ config }, signal) {
    const account = accountOf(config)
    if (account === null) return NO_ACCOUNT
    const { value, ms } = await timed(fetchAccount(config.telephonyApiUrl, account, signal))
    if (value.status !== 'active') {
      throw new Trouble(`The account is ${value.status}.`, 'See its billing in the console: no call is put through.')
    }
    const found = `${account.accountSid} is active; the carrier's API answers in ${ms} ms.`
    if (!value.isTrial) return { state: 'ok', found }
    const todo =
      'It is a trial: verified numbers only, and an announcement first. See "Trial accounts" in docs/going-live.md.'
    return { state: 'ok', found, todo }
  },
}

/** Whether the number calls this service. */
export const numberCheck: Check = {
  name: 'number',
  needs: ['carrier account'],
  limitMs: 10_000,
  async run({ config, publicUrl, phoneNumber }, signal) {
    const account = accountOf(config)
    if (account === null) return NO_ACCOUNT
    if (phoneNumber === null) {
      const todo = 'Name it: npm run live-check -- +12025550123, or set TELEPHONY_FROM_NUMBER.'
      return { state: 'skipped', found: 'No number is known.', todo }
    }
    const number = await makeNumberRequests(config.telephonyApiUrl).find(account, phoneNumber, signal)
    if (number === null) {
      throw new Trouble(
        `${phoneNumber} is not a number of the account.`,
        'Check the digits, or use the subaccount that has it.',
      )
    }
    const reason = unreachable(number)
    if (reason !== null) throw new Trouble('Calls to it cannot reach the service.', reason)
    const [change] = changesOf(numberSettings(number, numberAddresses(publicUrl)))
    if (change) {
      const found = `When ${change.name}, ${phoneNumber} has ${change.is} in place of ${change.shallBe}.`
      throw new Trouble(found, `npm run connect-number -- ${phoneNumber}`)
    }
    return { state: 'ok', found: `${phoneNumber} calls this service.` }
  },
}

function accountOf({ telephonyAccountSid, telephonyAuthToken }: Subject['config']): CarrierAccount | null {
  if (telephonyAccountSid === null || telephonyAuthToken === null) return null
  return { accountSid: telephonyAccountSid, authToken: telephonyAuthToken }
}
