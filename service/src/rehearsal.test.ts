import { type ChildProcess, spawn } from 'node:child_process'
import { readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { scratchFolder } from '../test/harness/scratch.ts'
import { until } from '../test/harness/wait.ts'
import { readConfig } from './config.ts'
import { systemClock } from './kernel/clock.ts'
import { makeLog } from './platform/log.ts'
import { startRehearsal } from './rehearsal.ts'

const CARRIER = { base_url: 'http://127.0.0.1:4010', account_sid: 'AC1', auth_token: 'a-token' }
const MODEL = {
  ...{ url: 'ws://127.0.0.1:4011/v1/realtime', base_url: 'http://127.0.0.1:4011/v1', api_key: null },
  voice_url: 'ws://127.0.0.1:4011/v1/text-to-speech',
}
const VOICE = { secondaryAudioKey: 'rehearsal', secondaryAudioUrl: MODEL.voice_url }
/** A program that says what the simulator says, and stays. */
const SAYS = `console.log(JSON.stringify(${JSON.stringify({ carrier: CARRIER, model: MODEL })}))`
const STAYS = 'setInterval(() => {}, 60_000)'
const REAL = { TELEPHONY_ACCOUNT_SID: 'AC9', TELEPHONY_AUTH_TOKEN: 'real-token', OPENAI_API_KEY: 'sk-real-key' }

let folder: string
let children: ChildProcess[]
beforeEach(async () => {
  folder = await scratchFolder()
  children = []
})
afterEach(async () => {
  for (const child of children) child.kill('SIGKILL')
  await rm(folder, { recursive: true })
})

function rehearsing(settings: Record<string, string>, code = `${SAYS}; ${STAYS}`) {
  const lines: string[] = []
  const log = makeLog({ level: 'info', secrets: [], destination: { write: (line) => lines.push(line) } })
  const start = () => {
    const child = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] })
    children.push(child)
    return child
  }
  const config = readConfig({ SIMULATOR: 'on', DATA_DIR: folder, ...settings })
  return { lines, config, started: startRehearsal({ config, clock: systemClock, log, start }) }
}

async function startedWith(settings: Record<string, string>, code?: string) {
  const { started, ...rest } = rehearsing(settings, code)
  const rehearsal = await started
  if (!rehearsal) throw new Error('nothing was simulated')
  return { ...rest, rehearsal }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}

describe('a rehearsal', () => {
  it.each([
    ['SIMULATOR is off', { SIMULATOR: 'off' }],
    ['every provider has an account', REAL],
    [
      'every provider has an address of its own',
      { TELEPHONY_API_BASE_URL: 'http://localhost:1', OPENAI_REALTIME_URL: 'ws://localhost:2' },
    ],
  ])('is none when %s', async (_why, settings) => {
    expect(await rehearsing(settings).started).toBeNull()
    expect(children).toEqual([])
  })

  it('puts the simulator in the place of what has no account, and says so', async () => {
    const { rehearsal, config, lines } = await startedWith({})
    expect(rehearsal.simulated).toEqual({ carrier: true, model: true })
    expect(rehearsal.config).toEqual({
      ...config,
      ...{ telephonyAccountSid: 'AC1', telephonyAuthToken: 'a-token', telephonyApiUrl: CARRIER.base_url },
      ...{ modelApiKey: 'rehearsal', modelUrl: MODEL.url, chatUrl: MODEL.base_url, ...VOICE },
    })
    expect(lines.join('')).toContain('this is a rehearsal')
  })

  it('leaves a provider that has an account as it is', async () => {
    const { TELEPHONY_ACCOUNT_SID, TELEPHONY_AUTH_TOKEN, OPENAI_API_KEY } = REAL
    const withCarrier = await startedWith({ TELEPHONY_ACCOUNT_SID, TELEPHONY_AUTH_TOKEN })
    expect(withCarrier.rehearsal.config).toEqual({
      ...withCarrier.config,
      ...{ modelApiKey: 'rehearsal', modelUrl: MODEL.url, chatUrl: MODEL.base_url, ...VOICE },
    })
    const OPENAI_BASE_URL = 'http://127.0.0.1:9/v1'
    const withChat = await startedWith({ OPENAI_BASE_URL })
    expect(withChat.rehearsal.config).toMatchObject({ modelUrl: MODEL.url, chatUrl: OPENAI_BASE_URL })
    const withVoice = await startedWith({ SECONDARY_AUDIO_API_KEY: 'real-voice-key' })
    const { secondaryAudioUrl } = withVoice.config
    expect(withVoice.rehearsal.config).toMatchObject({ secondaryAudioKey: 'real-voice-key', secondaryAudioUrl })
    const withModel = await startedWith({ OPENAI_API_KEY })
    expect(withModel.rehearsal.config).toMatchObject({
      modelApiKey: 'sk-real-key',
      modelUrl: withModel.config.modelUrl,
      secondaryAudioKey: null,
    })
    expect(withModel.rehearsal.simulated).toEqual({ carrier: true, model: false })
  })

  it.each([
    ['ends', 'process.exitCode = 3', 'it ended with code 3'],
    ['says something else', `console.log('hello'); ${STAYS}`, 'JSON'],
  ])(
    'does not begin when the simulator %s: the operator is told what to do, and nothing is left',
    async (_how, code, why) => {
      await expect(rehearsing({}, code).started).rejects.toMatchObject({
        code: 'unavailable',
        message: expect.stringMatching(`^The simulator did not start: .*${why}.*SIMULATOR`),
      })
      await until(() => children.every(hasEnded), { what: 'the simulator to be gone' })
    },
  )

  it('is announced in a file that its owner alone can read, until it stops', async () => {
    const path = join(folder, 'rehearsal.json')
    await writeFile(path, 'of an earlier start', { mode: 0o644 })
    const { rehearsal } = await startedWith({})
    await rehearsal.announce('http://localhost:8080')
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({
      ...{ public_url: 'http://localhost:8080', carrier: CARRIER, model: MODEL },
    })
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    await rehearsal.stop()
    await expect(stat(path)).rejects.toThrow('ENOENT')
    expect(children.every(hasEnded)).toBe(true)
  })

  it('is not announced when the carrier is a real one', async () => {
    const { TELEPHONY_ACCOUNT_SID, TELEPHONY_AUTH_TOKEN } = REAL
    const { rehearsal } = await startedWith({ TELEPHONY_ACCOUNT_SID, TELEPHONY_AUTH_TOKEN })
    await rehearsal.announce('http://localhost:8080')
    await expect(stat(join(folder, 'rehearsal.json'))).rejects.toThrow('ENOENT')
    await rehearsal.stop()
  })

  it('tells the log once that the simulator has died, and can still be stopped', async () => {
    const { rehearsal, lines } = await startedWith({})
    children[0]?.kill('SIGKILL')
    await until(() => lines.some((line) => line.includes('"level":"error"')), { what: 'the log to tell' })
    await rehearsal.stop()
    expect(lines.filter((line) => line.includes('the simulator has ended'))).toHaveLength(1)
  })

  it('kills a simulator that does not stop by itself', async () => {
    const { rehearsal } = await startedWith({}, `process.on('SIGTERM', () => {}); ${SAYS}; ${STAYS}`)
    await rehearsal.stop()
    expect(children[0]?.signalCode).toBe('SIGKILL')
  })
})
