// Connects a number of the carrier with this service: `npm run connect-number -- +12025550123 [--dry-run]`.
// Sets what the carrier calls when the number is rung, when that fails, and when a call has ended.
import type { CarrierAccount } from '../service/src/platform/telephony/port.ts'
import { fetchAccount } from '../service/src/platform/telephony/twilio/account.ts'
import { type CarrierNumber, makeNumberRequests } from '../service/src/platform/telephony/twilio/numbers.ts'
import { numberAddresses, publicAddress, publicAddressFault } from './live/addresses.ts'
import { changesOf, type NumberSetting, numberSettings, unreachable } from './live/changes.ts'
import { explain, Trouble } from './live/faults.ts'
import { readArguments, readNumber, UsageError } from './live/options.ts'
import { EXIT, readSurroundings, runProgram, type Surroundings } from './live/program.ts'
import { routeCommands } from './live/route-commands.ts'

const USAGE = `npm run connect-number -- +12025550123 [--dry-run]

Sets the addresses that the carrier calls for this number to those of PUBLIC_URL, in the account of
TELEPHONY_ACCOUNT_SID. --dry-run shows what would change and changes nothing. Again, it changes nothing.
Exit code: 0 connected (or a dry run), 1 not connected, 2 a mistake in the command line or the settings.`

/** The carrier answers within a second or two, or not at all. */
const REQUEST_MS = 10_000

type Order = Surroundings & { account: CarrierAccount; phoneNumber: string; isDryRun: boolean }

async function main(): Promise<number> {
  const { values, positionals } = readArguments({
    'dry-run': { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  })
  if (values.help) {
    process.stdout.write(`${USAGE}\n`)
    return EXIT.ok
  }
  const [text, ...others] = positionals
  if (text === undefined || others.length > 0) throw new UsageError(`Name one number.\n\n${USAGE}`)
  const phoneNumber = readNumber(text)
  const surroundings = readSurroundings()
  try {
    const account = accountOf(surroundings)
    await connect({ ...surroundings, account, phoneNumber, isDryRun: values['dry-run'] ?? false })
    return EXIT.ok
  } catch (error) {
    const { found, todo } = explain(error)
    surroundings.complain(`${found}\n→ ${todo}`)
    return EXIT.failed
  }
}

function accountOf({ config }: Surroundings): CarrierAccount {
  const { telephonyAccountSid: accountSid, telephonyAuthToken: authToken } = config
  if (accountSid === null || authToken === null) {
    throw new Trouble(
      'No account of a carrier is set.',
      'Set TELEPHONY_ACCOUNT_SID and TELEPHONY_AUTH_TOKEN, from the first page of the console.',
    )
  }
  return { accountSid, authToken }
}

async function connect(order: Order): Promise<void> {
  const { config, say, phoneNumber, isDryRun } = order
  const fault = publicAddressFault(config)
  if (fault !== null) throw new Trouble('The number would lead nowhere.', fault)
  await tellStanding(order)
  const number = await numberOf(order)
  const settings = numberSettings(number, numberAddresses(publicAddress(config)))
  const changes = changesOf(settings)
  say(`${phoneNumber} (${number.sid})\n${settings.map(settingLine).join('\n')}\n`)
  if (changes.length === 0) say('It is connected already: nothing was changed.')
  else if (isDryRun) say('A dry run: nothing was changed.')
  else await change(order, number)
  tellRoute(order)
}

async function tellStanding({ config, say, account }: Order): Promise<void> {
  const { status, isTrial } = await fetchAccount(config.telephonyApiUrl, account, AbortSignal.timeout(REQUEST_MS))
  if (status !== 'active') {
    throw new Trouble(`The carrier account is ${status}.`, 'See its billing in the console: no call is put through.')
  }
  if (isTrial) {
    say('This is a trial account: it connects verified numbers only and speaks an announcement into each call. See')
    say('docs/going-live.md, "Trial accounts".\n')
  }
}

async function numberOf({ config, account, phoneNumber }: Order): Promise<CarrierNumber> {
  const requests = makeNumberRequests(config.telephonyApiUrl)
  const number = await requests.find(account, phoneNumber, AbortSignal.timeout(REQUEST_MS))
  if (number === null) {
    throw new Trouble(
      `${phoneNumber} is not a number of the account ${account.accountSid}.`,
      'Check the digits. A number that was bought in a subaccount is connected with the sid and token of that subaccount.',
    )
  }
  const reason = unreachable(number)
  if (reason !== null) throw new Trouble('Calls to this number cannot reach the service.', reason)
  return number
}

/** What the carrier says that it has now is what counts, not that it answered well. */
async function change({ config, say, account }: Order, number: CarrierNumber): Promise<void> {
  const addresses = numberAddresses(publicAddress(config))
  const requests = makeNumberRequests(config.telephonyApiUrl)
  const changed = await requests.connect(account, number, addresses, AbortSignal.timeout(REQUEST_MS))
  const left = changesOf(numberSettings(changed, addresses))
  if (left.length > 0) {
    throw new Trouble(
      `The carrier took the request and kept the old setting of: ${left.map(({ name }) => name).join(', ')}.`,
      'Set it in the console, under the number.',
    )
  }
  say('Connected.')
}

const LABEL_CHARS = 20

function settingLine({ name, is, shallBe }: NumberSetting): string {
  const now = `  ${name.padEnd(LABEL_CHARS)}${is}`
  return is === shallBe ? now : `${now}\n${'→ '.padStart(LABEL_CHARS + 2)}${shallBe}`
}

const ROUTES = {
  embedded: `Who answers is decided by a phone route of the service. The routes of the demo tenant, which the embedded database
alone has, and one for this number:`,
  server: `Who answers is decided by a phone route of the service. The routes of a tenant, and one for this number; put the keys of
yours (docs/getting-started.md) for TENANT and AGENT:`,
  none: 'Without a database the tenant answers whose document has this number as telephony.from_number.',
}

function tellRoute({ config, say, phoneNumber }: Order): void {
  const { kind } = config.database
  say(`\n${ROUTES[kind]}\n`)
  if (kind !== 'none') say(`  ${routeCommands(config, phoneNumber).join('\n  ')}\n`)
  if (kind === 'embedded') say('For another tenant or agent put its keys there.')
  say(`Then: npm run live-check -- ${phoneNumber}`)
}

await runProgram(main)
