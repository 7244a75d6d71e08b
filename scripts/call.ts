// Rings a number of the running service from a simulated telephone: `npm run call -- --to +12025550100`.
import { createInterface } from 'node:readline'
import { ConfigError } from '../service/src/config.ts'
import { DEMO } from '../service/src/demo.ts'
import type { WrittenCaller } from '../simulator/src/scenario/scenario-shape.ts'
import { makeApi } from './demo/api.ts'
import { expectRoute } from './demo/expect-route.ts'
import { placeCall } from './demo/place-call.ts'
import { findRehearsal } from './demo/running-rehearsal.ts'
import { storedText } from './demo/stored-call.ts'
import { makeTelephone, type Telephone } from './demo/telephone.ts'
import { withTenantKey } from './demo/tenant-key.ts'
import { readArguments, readNumber, UsageError } from './live/options.ts'
import { EXIT, readSurroundings, runProgram } from './live/program.ts'

const USAGE = `npm run call -- [--to ${DEMO.phoneNumber}] [--say "…"]… [--from +12025550147] [--tenant ${DEMO.tenantId}]

Rings a number of the service that runs in this folder with SIMULATOR=on, and shows the conversation as it happens.
What the caller says is spoken to the agent as real audio. In a terminal it is typed: a line is spoken at once, also
over the agent, and Ctrl-D hangs up. With --say, or with lines from a pipe, each is said when the agent has been quiet
for a moment, and after the last answer the caller hangs up.
`

const OPTIONS = {
  to: { type: 'string', default: DEMO.phoneNumber },
  from: { type: 'string', default: '+12025550147' },
  say: { type: 'string', multiple: true },
  tenant: { type: 'string', default: DEMO.tenantId },
  help: { type: 'boolean', default: false, short: 'h' },
} as const

const HANG_UP_AFTER_MS = 1_500

/** Says everything, hears the last answer out, hangs up. */
function scripted(lines: string[]): WrittenCaller {
  return { steps: [...lines.map((say) => ({ say })), { hang_up: true, after_agent_ms: HANG_UP_AFTER_MS }] }
}

/** What the caller says one after the other; null where somebody sits and types. */
async function scriptOf(said: string[] | undefined): Promise<string[] | null> {
  if (said) return said
  if (process.stdin.isTTY) return null
  const lines: string[] = []
  for await (const line of createInterface({ input: process.stdin })) if (line.trim() !== '') lines.push(line)
  return lines
}

/** Reads lines for the caller until the input ends or the function that it returns is called. */
function typeAlong(telephone: Telephone, sid: string, hangUp: () => void): () => void {
  process.stdout.write('Type what the caller says; Enter speaks it, Ctrl-D hangs up.\n\n')
  const lines = createInterface({ input: process.stdin })
  let said: Promise<void> = Promise.resolve()
  lines.on('line', (line) => {
    if (line.trim() === '') return
    // One after the other: the audio of a short line would be ready before that of a long one.
    said = said.then(() => telephone.say(sid, line)).catch(hangUp)
  })
  lines.on('close', hangUp)
  return () => {
    lines.off('close', hangUp)
    lines.close()
  }
}

type Values = { to: string; from: string; say?: string[] | undefined; tenant: string }

async function call({ say: said, tenant: tenantId, ...numbers }: Values): Promise<void> {
  const { config, say } = readSurroundings()
  if (config.adminKey === null)
    throw new UsageError('Set ADMIN_API_KEY as it is for the service: with it the call is seen.')
  const [from, to] = [readNumber(numbers.from), readNumber(numbers.to)]
  const rehearsal = await findRehearsal(config)
  const telephone = makeTelephone(rehearsal)
  const base = rehearsal.public_url
  const admin = makeApi(base, { 'x-admin-key': config.adminKey })
  await expectRoute(admin, tenantId, to)
  const lines = await scriptOf(said)
  const hangingUp = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => hangingUp.abort())
  let stopTyping = () => {}

  const stored = await withTenantKey(admin, { base, tenantId, label: 'npm run call' }, (tenant) => {
    say(`This is a rehearsal: ${from} rings ${to} at a simulated carrier.\n`)
    return placeCall(telephone, tenant, {
      ...{ from, to, say, signal: hangingUp.signal },
      caller: lines ? scripted(lines) : { stays: true },
      onTalking(sid) {
        if (!lines) stopTyping = typeAlong(telephone, sid, () => hangingUp.abort())
      },
    }).finally(() => stopTyping())
  })
  say('\nStored')
  for (const line of storedText(stored)) say(`  ${line}`)
}

async function main(): Promise<number> {
  const { values, positionals } = readArguments(OPTIONS)
  if (values.help) {
    process.stdout.write(USAGE)
    return EXIT.ok
  }
  if (positionals.length > 0) throw new UsageError(`${positionals.join(' ')} is not understood.\n\n${USAGE}`)
  try {
    await call(values)
    return EXIT.ok
  } catch (error) {
    if (!(error instanceof Error) || error instanceof UsageError || error instanceof ConfigError) throw error
    process.stderr.write(`The call failed: ${error.message}\n`)
    return EXIT.failed
  }
}

await runProgram(main)
