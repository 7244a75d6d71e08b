import { randomBytes } from 'node:crypto'
import { parseArgs } from 'node:util'
import type { SimulatorOptions } from '../simulator.ts'

/** A command line that makes no sense; the message says what to do. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** What to do, as the command line says it. */
export type Command =
  | { command: 'help' }
  | { command: 'serve'; simulator: SimulatorOptions; parties: { number: string; greeting: string }[]; json: boolean }
  | {
      command: 'run'
      simulator: SimulatorOptions
      scenarios: string[]
      voiceUrl: string
      statusCallback: string | undefined
      voiceFallbackUrl: string | undefined
      json: boolean
      wav: string | undefined
    }

/** How the command is used. */
export const USAGE = `A rehearsal for voice bridges: a telephone carrier and a realtime model that speak the providers' own protocols.

  simulator serve                      start both and say how to point a bridge at them
  simulator run <file.yaml ...>        run scenarios against a bridge that is pointed at them; exits 1 when one fails

  --host 127.0.0.1          where both listen
  --carrier-port 4010       the carrier's REST surface
  --model-port 4011         the model's websocket
  --account-sid, --auth-token   the carrier's account; signatures are made with the token, which is a known one
                                unless told (with serve --json a fresh one, which nobody else can know)
  --api-key                 the only key that the model takes; any key without it
  --number +15550100199     a number of the account (repeat it); any number without it

  serve:
  --party +15550100200=Hello?   somebody who answers at a number and says this (repeat it); at any other somebody
                            answers, but +12025550181 rings in vain, +12025550182 is busy, +12025550183 a mailbox
  --json                    one JSON line with addresses and account, for the program that started it

  run:
  --voice-url URL           where the bridge answers incoming calls (required)
  --status-callback URL     where it is told what became of a call
  --fallback-url URL        what the carrier asks when the voice address fails
  --json                    one JSON object a scenario, for programs
  --wav FILE                the last call: caller left, agent right
`

const OPTIONS = {
  host: { type: 'string', default: '127.0.0.1' },
  'carrier-port': { type: 'string', default: '4010' },
  'model-port': { type: 'string', default: '4011' },
  'account-sid': { type: 'string', default: 'AC00000000000000000000000000000001' },
  'auth-token': { type: 'string' },
  'api-key': { type: 'string' },
  number: { type: 'string', multiple: true },
  party: { type: 'string', multiple: true },
  'voice-url': { type: 'string' },
  'status-callback': { type: 'string' },
  'fallback-url': { type: 'string' },
  json: { type: 'boolean', default: false },
  wav: { type: 'string' },
  help: { type: 'boolean', default: false, short: 'h' },
} as const

/** Who configures a bridge by hand wants a token that stays the same. */
const KNOWN_TOKEN = 'rehearsal-auth-token'

type Values = ReturnType<typeof parsed>['values']

/** Reads the command line, program name left out. @throws UsageError. */
export function readCommand(args: string[]): Command {
  const { values, positionals } = parsed(args)
  const [command, ...scenarios] = positionals
  if (values.help || command === undefined || command === 'help') return { command: 'help' }
  const simulator = simulatorOptions(values, command === 'serve' && values.json ? freshToken() : KNOWN_TOKEN)
  if (command === 'serve') return { command, simulator, parties: (values.party ?? []).map(partyOf), json: values.json }
  if (command !== 'run') throw new UsageError(`There is no command "${command}". Use serve or run.`)
  if (scenarios.length === 0) throw new UsageError('Name the scenario files to run.')
  const voiceUrl = urlOf('--voice-url', values['voice-url'])
  if (voiceUrl === undefined) throw new UsageError('Say with --voice-url where the bridge answers incoming calls.')
  return {
    command,
    simulator,
    scenarios,
    voiceUrl,
    statusCallback: urlOf('--status-callback', values['status-callback']),
    voiceFallbackUrl: urlOf('--fallback-url', values['fallback-url']),
    json: values.json,
    wav: values.wav,
  }
}

function parsed(args: string[]) {
  try {
    return parseArgs({ args, options: OPTIONS, allowPositionals: true })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

function freshToken(): string {
  return randomBytes(16).toString('hex')
}

function simulatorOptions(values: Values, usualToken: string): SimulatorOptions {
  const { host, number, 'account-sid': accountSid, 'auth-token': authToken = usualToken, 'api-key': apiKey } = values
  return {
    carrier: {
      host,
      port: portOf('--carrier-port', values['carrier-port']),
      accountSid,
      authToken,
      ...(number && { numbers: number }),
    },
    model: { host, port: portOf('--model-port', values['model-port']), ...(apiKey && { apiKey }) },
  }
}

function portOf(name: string, value: string): number {
  const port = Number(value)
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port
  throw new UsageError(`${name} takes a port, not "${value}".`)
}

function urlOf(name: string, value: string | undefined): string | undefined {
  // Without a scheme, localhost:8080/path would be an address of the scheme localhost.
  if (value === undefined || (URL.canParse(value) && /^https?:/i.test(value))) return value
  throw new UsageError(`${name} takes an address such as http://127.0.0.1:8080/path, not "${value}".`)
}

function partyOf(text: string): { number: string; greeting: string } {
  const [, number, greeting] = /^(\+\d{3,15})=(.+)$/.exec(text) ?? []
  if (number && greeting) return { number, greeting }
  throw new UsageError(`--party takes a number and what is said there, such as +15550100200=Hello, not "${text}".`)
}
