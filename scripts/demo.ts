// A whole phone call in the terminal, with no account: `npm run demo`, `npm run demo -- --check`, `npm run demo -- --wav my.wav`.
import { access, constants } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { checkAudio, checkCall, checkText } from './demo/checks.ts'
import { rehearse } from './demo/rehearse.ts'
import { storedText } from './demo/stored-call.ts'

const USAGE = `npm run demo -- [--check | --check-audio] [--wav FILE]

Rehearses a phone call on this machine: a simulated carrier rings the demo agent and speaks real audio, a simulated
model answers. Shows the conversation as it happens and what was stored, and writes it to FILE (call.wav) in stereo,
the caller left, the agent right.

  --check         also looks whether audio and record are as they should be; exit code 1 when something is not
  --check-audio   the same for the audio alone
`

const FAILED = 1
const MISUSED = 2
const INTERRUPTED = 130

const OPTIONS = {
  check: { type: 'boolean', default: false },
  'check-audio': { type: 'boolean', default: false },
  wav: { type: 'string', default: 'call.wav' },
  help: { type: 'boolean', default: false, short: 'h' },
} as const

type Command = { check: boolean; 'check-audio': boolean; wav: string }

class Interrupted extends Error {}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

function abortOnSignals(): AbortSignal {
  const stopping = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => stopping.abort(new Interrupted()))
  }
  return stopping.signal
}

async function demo({ check, 'check-audio': isAudioOnly, wav }: Command): Promise<number> {
  const wavPath = resolve(wav)
  const folder = dirname(wavPath)
  if (!(await isWritable(folder))) {
    process.stderr.write(`--wav ${wav}: there is no folder ${folder} in which it could be written.\n`)
    return MISUSED
  }
  say('This is a rehearsal: no call leaves this machine, and the simulated model does not understand speech.\n')
  const { scenario, report, stored } = await rehearse({ say, wavPath, signal: abortOnSignals() })
  say('\nStored')
  for (const line of storedText(stored)) say(`  ${line}`)
  say(`\nRecorded in ${wavPath} (caller left, agent right)`)
  if (!check && !isAudioOnly) return 0

  say('\nChecked')
  const checks = check ? checkCall(scenario, report, stored) : checkAudio(report)
  for (const one of checks) say(`  ${checkText(one)}`)
  return checks.every(({ ok }) => ok) ? 0 : FAILED
}

function isWritable(folder: string): Promise<boolean> {
  return access(folder, constants.W_OK).then(
    () => true,
    () => false,
  )
}

function readCommand() {
  try {
    return parseArgs({ options: OPTIONS }).values
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${USAGE}`)
    return null
  }
}

async function main(): Promise<number> {
  const values = readCommand()
  if (!values) return MISUSED
  if (!values.help) return demo(values)
  process.stdout.write(USAGE)
  return 0
}

main().then(
  (code) => {
    process.exitCode = code
  },
  (error: unknown) => {
    if (!(error instanceof Interrupted)) process.stderr.write(`The demo failed: ${(error as Error).message}\n`)
    process.exitCode = error instanceof Interrupted ? INTERRUPTED : FAILED
  },
)
