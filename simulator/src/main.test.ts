import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { freePort } from '../../scripts/needs/free-port.ts'
import { readWav } from './audio/wav.ts'
import { type Bridge, startBridge } from './scenario/example-bridge.fixture.ts'

const MAIN = new URL('./main.ts', import.meta.url).pathname
const ACCOUNT = { accountSid: 'AC00000000000000000000000000000001', authToken: 'rehearsal-auth-token' }
/** For whom nobody looks: of two that are free now, another process may have taken one by the time they are wanted. */
const ANY_PORTS = ['--carrier-port', '0', '--model-port', '0']
let bridge: Bridge | undefined
let folder: string | undefined
afterEach(async () => {
  await bridge?.close()
  if (folder) await rm(folder, { recursive: true })
  bridge = undefined
  folder = undefined
})

function start(...args: string[]): {
  child: ChildProcess
  done: Promise<{ code: number | null; out: string; err: string }>
} {
  const child = spawn(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  let [out, err] = ['', '']
  child.stdout.on('data', (data) => (out += data))
  child.stderr.on('data', (data) => (err += data))
  const done = once(child, 'close').then(([code]) => ({ code, out, err }))
  return { child, done }
}

async function scenarioFile(expected: string): Promise<string> {
  folder = await mkdtemp(join(tmpdir(), 'scenario-'))
  const path = join(folder, 'short.yaml')
  const caller = '{ steps: [{ hang_up: true, after_agent_ms: 500 }] }'
  const agent = '{ rules: [{ say: Hello from the command line. }] }'
  await writeFile(path, `{ name: Short, caller: ${caller}, agent: ${agent}, expect: { heard: ['${expected}'] } }`)
  return path
}

describe('the command', () => {
  it('runs a scenario against a bridge, reports to programs, writes what was heard, exits 0', async () => {
    const [carrierPort, modelPort] = [await freePort(), await freePort()]
    bridge = await startBridge({
      restUrl: `http://127.0.0.1:${carrierPort}`,
      modelUrl: `ws://127.0.0.1:${modelPort}/v1/realtime?model=m`,
      ...ACCOUNT,
    })
    const ports = ['--carrier-port', String(carrierPort), '--model-port', String(modelPort)]
    const file = await scenarioFile('Hello from the command line')
    const wav = join(folder ?? '', 'call.wav')
    const { code, out, err } = await start(
      'run',
      file,
      ...ports,
      '--voice-url',
      bridge.voiceUrl,
      '--json',
      '--wav',
      wav,
    ).done
    expect([code, err]).toEqual([0, ''])
    expect(JSON.parse(out)).toMatchObject({
      name: 'Short',
      ok: true,
      facts: { end: { status: 'completed', by: 'caller' } },
    })
    expect(readWav(await readFile(wav)).samples.length).toBeGreaterThan(8_000)
  })

  it('reports to people what was not as expected, and exits 1', async () => {
    const nobody = `http://127.0.0.1:${await freePort()}/voice`
    const { code, out } = await start('run', await scenarioFile('Hello'), ...ANY_PORTS, '--voice-url', nobody).done
    expect(code).toBe(1)
    expect(out).toContain('FAIL  Short')
    expect(out).toContain('✗ heard                no "Hello" in "We are sorry.')
  })

  it('reports a call that it waited for in vain, runs the other scenarios, and exits 1', async () => {
    const short = await scenarioFile('We are sorry')
    const outbound = join(folder ?? '', 'outbound.yaml')
    await writeFile(outbound, '{ name: Outbound, caller: {}, call: { direction: outbound, max_seconds: 1 } }')
    const nobody = `http://127.0.0.1:${await freePort()}/voice`
    const { code, out, err } = await start('run', outbound, short, ...ANY_PORTS, '--voice-url', nobody, '--json').done
    const reports = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect([code, err, reports.map(({ name }) => name)]).toEqual([1, '', ['Outbound', 'Short']])
    const detail = 'nobody called +15550100199 within 1 seconds'
    expect(reports[0]).toMatchObject({ ok: false, findings: [{ what: 'call', state: 'failed', detail }] })
  })

  it('serves until it is told to stop, and says where', async () => {
    const { child, done } = start('serve', '--carrier-port', '0', '--model-port', '0', '--api-key', 'k')
    await once(child.stdout as NodeJS.ReadableStream, 'data')
    child.kill('SIGTERM')
    const { code, out } = await done
    expect(code).toBe(0)
    expect(out).toMatch(/REST base +http:\/\/127\.0\.0\.1:\d+\n/)
    expect(out).toMatch(
      /websocket +ws:\/\/127\.0\.0\.1:\d+\/v1\/realtime\n +chats +http:.*\/v1\n +voices +ws:.*\n +key +k\n/,
    )
  })

  it('serves programs with one JSON line, and with a token that nobody else knows', async () => {
    const ports = ['--carrier-port', '0', '--model-port', '0']
    const endings = [0, 1].map(async () => {
      const { child, done } = start('serve', '--json', ...ports)
      await once(child.stdout as NodeJS.ReadableStream, 'data')
      child.kill('SIGTERM')
      return done
    })
    const lines = (await Promise.all(endings)).map(({ code, out, err }) => {
      expect([code, err, out.split('\n').length]).toEqual([0, '', 2])
      return JSON.parse(out)
    })
    expect(lines[0]).toEqual({
      carrier: {
        base_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
        account_sid: 'AC00000000000000000000000000000001',
        auth_token: expect.stringMatching(/^[0-9a-f]{32}$/),
      },
      model: {
        url: expect.stringMatching(/^ws:\/\/127\.0\.0\.1:\d+\/v1\/realtime$/),
        base_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/v1$/),
        voice_url: expect.stringMatching(/^ws:\/\/127\.0\.0\.1:\d+\/v1\/text-to-speech$/),
        api_key: null,
      },
    })
    expect(lines[0].carrier.auth_token).not.toBe(lines[1].carrier.auth_token)
  })

  it.each([
    ['+12025550181', { status: 'no-answer', answered_by: null }],
    ['+12025550182', { status: 'busy', answered_by: null }],
    ['+12025550183', { status: 'in-progress', answered_by: 'machine_start' }],
    ['+12025550184', { status: 'in-progress', answered_by: 'human' }],
  ])('answers as it says at %s', async (to, expected) => {
    const { child, done } = start('serve', '--json', '--carrier-port', '0', '--model-port', '0')
    const [line] = await once(child.stdout as NodeJS.ReadableStream, 'data')
    const { base_url, account_sid, auth_token } = JSON.parse(String(line)).carrier
    const ask = async (path: string, form?: Record<string, string>) => {
      const authorization = `Basic ${Buffer.from(`${account_sid}:${auth_token}`).toString('base64')}`
      const sent = form && { method: 'POST', body: new URLSearchParams(form) }
      const url = `${base_url}/2010-04-01/Accounts/${account_sid}/${path}.json`
      return (await (await fetch(url, { headers: { authorization }, ...sent })).json()) as { sid: string }
    }
    const call = { Twiml: '<Response><Pause length="60"/></Response>', Timeout: '5', MachineDetection: 'Enable' }
    const { sid } = await ask('Calls', { From: '+15550100199', To: to, ...call })
    await expect.poll(() => ask(`Calls/${sid}`)).toMatchObject(expected)
    child.kill('SIGTERM')
    await done
  })

  it('ends when the program that started it with a channel is gone', async () => {
    const child = spawn(process.execPath, [MAIN, 'serve', '--json', '--carrier-port', '0', '--model-port', '0'], {
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    })
    await once(child.stdout as NodeJS.ReadableStream, 'data')
    child.disconnect()
    expect(await once(child, 'exit')).toEqual([0, null])
  })

  it.each([
    [['dance'], 'There is no command "dance". Use serve or run.\n'],
    [['run'], 'Name the scenario files to run.\n'],
    [['run', 'a.yaml'], 'Say with --voice-url where the bridge answers incoming calls.\n'],
    [
      ['run', 'a.yaml', '--voice-url', 'here'],
      '--voice-url takes an address such as http://127.0.0.1:8080/path, not "here".\n',
    ],
    [
      ['run', 'a.yaml', '--voice-url', 'localhost:8080/voice'],
      '--voice-url takes an address such as http://127.0.0.1:8080/path, not "localhost:8080/voice".\n',
    ],
    [['serve', '--model-port', 'x'], '--model-port takes a port, not "x".\n'],
    [
      ['serve', '--party', 'Ada'],
      '--party takes a number and what is said there, such as +15550100200=Hello, not "Ada".\n',
    ],
  ])('%j is answered with one line, and exits 2', async (args, line) => {
    const { code, err } = await start(...args).done
    expect([code, err]).toEqual([2, line])
  })

  it('tells in one line that a port is taken', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const port = String((server.address() as AddressInfo).port)
    const { code, err } = await start('serve', '--carrier-port', '0', '--model-port', port).done
    server.close()
    expect([code, err]).toEqual([1, `listen EADDRINUSE: address already in use 127.0.0.1:${port}\n`])
  })

  it('explains itself', async () => {
    const { code, out } = await start('--help').done
    expect([code, out.startsWith('A rehearsal for voice bridges')]).toEqual([0, true])
  })
})
