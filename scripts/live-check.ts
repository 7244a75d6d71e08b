// Looks at everything that a first real call needs, with the accounts of the settings: `npm run live-check -- [+12025550123]`.
// It places no call; the model speaks one sentence, which is paid for.
import type { PhoneNumber } from '../service/src/kernel/phone.ts'
import { publicAddress } from './live/addresses.ts'
import type { Check } from './live/check.ts'
import { accountCheck, numberCheck } from './live/checks/carrier.ts'
import { clockCheck } from './live/checks/clock.ts'
import { modelCheck } from './live/checks/model.ts'
import { publicAddressCheck } from './live/checks/public-address.ts'
import { settingsCheck } from './live/checks/settings.ts'
import { signedCallbackCheck } from './live/checks/signed-callback.ts'
import { streamAddressCheck } from './live/checks/stream-address.ts'
import { readArguments, readNumber, UsageError } from './live/options.ts'
import { outcomeText, summaryText } from './live/outcome-text.ts'
import { EXIT, readSurroundings, runProgram } from './live/program.ts'
import { runChecks } from './live/run-checks.ts'

const USAGE = `npm run live-check -- [+12025550123] [--model NAME] [--voice NAME]

Looks at everything that a real call needs: settings, public address, carrier, number, signatures, stream, model.
The number is TELEPHONY_FROM_NUMBER when none is named. No call is placed; the model speaks one sentence, which costs
a fraction of a cent or so. Run it on the machine of the running service, with the service's settings.
Exit code: 0 nothing failed, 1 a check failed, 2 a mistake in the command line or the settings.`

/** In the order in which a call needs them. */
const CHECKS: Check[] = [
  ...[settingsCheck, publicAddressCheck, clockCheck, accountCheck],
  ...[numberCheck, signedCallbackCheck, streamAddressCheck, modelCheck],
]

const TOTAL_MS = 60_000

const OPTIONS = {
  model: { type: 'string' },
  voice: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const

function numberOf(texts: string[]): PhoneNumber | null {
  const [text, ...others] = texts
  if (others.length > 0) throw new UsageError(`Name one number at most.\n\n${USAGE}`)
  return text === undefined ? null : readNumber(text)
}

async function main(): Promise<number> {
  const { values, positionals } = readArguments(OPTIONS)
  if (values.help) {
    process.stdout.write(`${USAGE}\n`)
    return EXIT.ok
  }
  const named = numberOf(positionals)
  const { config, say } = readSurroundings()
  const phoneNumber = named ?? config.telephonyFromNumber
  const { model = null, voice = null } = values
  const subject = { config, publicUrl: publicAddress(config), phoneNumber, model, voice }

  const startMs = performance.now()
  const outcomes = await runChecks(CHECKS, subject, { totalMs: TOTAL_MS, tell: (outcome) => say(outcomeText(outcome)) })
  say(`\n${summaryText(outcomes, performance.now() - startMs)}`)
  return outcomes.some(({ state }) => state === 'FAIL') ? EXIT.failed : EXIT.ok
}

await runProgram(main)
