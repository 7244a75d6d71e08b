import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it, onTestFinished } from 'vitest'
import { type Simulator, startSimulator } from '../../simulator/src/simulator.ts'
import { type CarrierReply, type CarrierRest, startCarrierRest } from './harness/carrier-rest.ts'
import { killPrograms, startProgram } from './harness/program.ts'
import { ADMIN_API_KEY, ProgramTalk } from './harness/program-talk.ts'
import { ACCOUNT } from './harness/served-app.ts'
import { type Copy, copyTemplate } from './harness/template.ts'
import { until } from './harness/wait.ts'

const TEST_TIMEOUT_MS = 240_000
/** A node that starts beside others listens for three seconds before it judges them, on a machine that may be busy. */
const CLOSED_WITHIN_MS = 60_000
/** What a process that can open no more files has left when the crowd comes. */
const SPARE_FILES = 8
/** What it may have when the crowd is gone. */
const ENOUGH_FILES = 1_000
const FEW_FILES = 256
const NO_SUCH_CALL: CarrierReply = { status: 404, body: { code: 20404, message: 'not found' } }

/** Fills the program's memory when it is told to by a signal. */
const GLUTTON = `data:text/javascript,process.on('SIGUSR2',()=>{const kept=[];for(;;)kept.push(new Array(100000).fill(0))})`
const GREEDY = { NODE_OPTIONS: `--max-old-space-size=192 --import "${GLUTTON}"` }

let copy: Copy
let simulator: Simulator
let rest: CarrierRest
let settings: Record<string, string>

beforeAll(async () => {
  rest = await startCarrierRest()
  simulator = await startSimulator({
    carrier: { host: '127.0.0.1', port: 0, accountSid: ACCOUNT.sid, authToken: ACCOUNT.token },
    model: { host: '127.0.0.1', port: 0 },
  })
})
beforeEach(async () => {
  rest.reply = () => ({ status: 200, body: {} })
  copy = await copyTemplate(inject('databaseTemplate'))
  const providers = { TELEPHONY_API_BASE_URL: rest.baseUrl, OPENAI_REALTIME_URL: simulator.model.url }
  settings = { ...copy.settings, ...providers, ADMIN_API_KEY, OPENAI_API_KEY: 'sk-key-of-the-process-lost-tests' }
})
afterEach(async () => {
  await killPrograms()
  await copy.remove()
})
afterAll(async () => {
  await simulator.close()
  await rest.close()
})

/** A program dies, with a call of a page and one of its carrier, who does not know it any more. */
async function dies(tell: NodeJS.Signals, more: Record<string, string> = {}) {
  const program = startProgram({ ...settings, ...more })
  const talk = new ProgramTalk(await program.listening())
  await talk.furnish()
  const calls = [await talk.browserCall(), 'CA1']
  await talk.phoneCall('CA1')
  rest.reply = () => NO_SUCH_CALL
  return { calls, ...(await program.end(tell)) }
}

async function areClosedByTheNext(calls: string[]): Promise<void> {
  const program = startProgram(settings)
  const talk = new ProgramTalk(await program.listening())
  await talk.authenticate()
  for (const callSid of calls) {
    const session = await until(
      async () => {
        const found = await talk.session(callSid)
        return found['ended_at'] ? found : null
      },
      { what: 'the session to be closed', timeoutMs: CLOSED_WITHIN_MS },
    )
    expect(session['end_reason']).toBe('process_lost')
    expect((await talk.callLog(callSid))['status']).toBe('completed')
  }
  expect(await program.end('SIGTERM')).toMatchObject({ code: 0 })
}

const { kind } = inject('databaseTemplate')

describe('the calls of a program', { timeout: TEST_TIMEOUT_MS }, () => {
  it('F73: that was killed are closed by the next one: those of pages, and those that their carrier does not know any more', async () => {
    const { calls, signal } = await dies('SIGKILL')
    expect(signal).toBe('SIGKILL')
    await areClosedByTheNext(calls)
  })

  // The one whose database is in the same memory.
  it.runIf(kind === 'embedded')('F77: whose memory was full are closed by the next one', async () => {
    const { calls, signal } = await dies('SIGUSR2', GREEDY)
    expect(signal).toBe('SIGABRT')
    await areClosedByTheNext(calls)
  })

  // The one whose database opens files itself.
  it.runIf(kind === 'embedded' && process.platform === 'linux')(
    'F76: that can open no file any more go on, and others are taken as soon as it can',
    async () => {
      const program = startProgram(settings)
      const address = await program.listening()
      const talk = new ProgramTalk(address)
      await talk.furnish()
      const callSid = await talk.browserCall()
      const crowd = await takeAllFiles(program.pid, Number(new URL(address).port))
      for (const socket of crowd) socket.destroy()
      // Those that the crowd had may be the database's by now, which keeps what it has opened.
      allowFiles(program.pid, ENOUGH_FILES)
      const isReady = async () => (await fetch(`${address}/readyz`).catch(() => null))?.status === 200
      await until(isReady, { what: 'the program to be ready again' })
      expect((await talk.callLog(callSid))['status']).toBe('in-progress')
      expect(await talk.browserCall()).not.toBe(callSid)
    },
  )

  it.runIf(kind === 'embedded' && process.platform === 'linux')(
    'F76: that may open few files from the start on are taken beside its database, and that is told',
    async () => {
      const program = startProgram(settings)
      execFileSync('prlimit', ['--pid', String(program.pid), `--nofile=${FEW_FILES}:${FEW_FILES}`])
      const address = await program.listening()
      const talk = new ProgramTalk(address)
      await talk.furnish()
      await talk.browserCall()
      expect(filesOf(program.pid)).toBeLessThan(FEW_FILES / 2)
      expect((await fetch(`${address}/livez`)).status).toBe(200)
      expect(program.stdout()).toContain('few files may be open at once')
    },
  )
})

const filesOf = (pid: number) => readdirSync(`/proc/${pid}/fd`).length

function allowFiles(pid: number, count: number): void {
  execFileSync('prlimit', ['--pid', String(pid), `--nofile=${count}:`])
}

/** Lets a process have a few more files, and connects until it has none. */
async function takeAllFiles(pid: number, port: number): Promise<Socket[]> {
  const limit = filesOf(pid) + SPARE_FILES
  allowFiles(pid, limit)
  const crowd = Array.from({ length: 5 * SPARE_FILES }, () => connect(port, '127.0.0.1').on('error', () => {}))
  onTestFinished(() => {
    for (const socket of crowd) socket.destroy()
  })
  const refused = () => crowd.filter((socket) => isRefused(socket)).length
  await until(() => refused() >= 3 * SPARE_FILES, { what: 'the files to be used up' })
  return crowd
}

/** Those for whom there is no file are let in and closed at once. */
const isRefused = (socket: Socket) => socket.closed || socket.readableEnded
