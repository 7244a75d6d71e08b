import { describe, expect, it, vi } from 'vitest'
import { runLive } from './live/run-live.fixture.ts'
import { startService } from './live/service.fixture.ts'
import { ACCOUNT, API_KEY, NUMBER, startSimulated } from './live/simulated.fixture.ts'

vi.setConfig({ testTimeout: 60_000 })

const NAMES = [
  ...['settings', 'public address', 'clock', 'carrier account'],
  ...['number', 'signed callback', 'stream address', 'model'],
]
const SECRETS = { ADMIN_API_KEY: 'ak_a-secret-admin-key', STREAM_TOKEN_SECRET: 'a-secret-stream-secret' }
const ALL_SECRETS = [ACCOUNT.authToken, API_KEY, ...Object.values(SECRETS)]

const check = (args: string[], settings: Record<string, string>) => runLive('live-check.ts', args, settings)

/** What was printed: the state of each check by name, and the last line. */
function read(stdout: string) {
  const lines = stdout.trimEnd().split('\n')
  const states = NAMES.map((name) =>
    lines
      .find((line) => line.slice(9, 27).trimEnd() === name)
      ?.slice(0, 9)
      .trimEnd(),
  )
  return { states: Object.fromEntries(NAMES.map((name, at) => [name, states[at]])), last: lines.at(-1) }
}

describe('npm run live-check', () => {
  it('finds everything in order once the number is connected, and exits 0', async () => {
    const { settings } = await startSimulated()
    const service = await startService()
    const all = { ...settings, ...SECRETS, PUBLIC_URL: service.url }
    await runLive('connect-number.ts', [NUMBER], all)
    const { code, stdout, stderr } = await check([NUMBER], all)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const { states, last } = read(stdout)
    expect(states).toEqual(Object.fromEntries(NAMES.map((name) => [name, 'ok'])))
    expect(last).toMatch(/^8 ok, 0 failed, 0 skipped in \d+\.\d s$/)
    for (const secret of ALL_SECRETS) expect(stdout).not.toContain(secret)
  })

  it('takes the number of the settings, and exits 1 when one check fails', async () => {
    const { settings } = await startSimulated()
    const service = await startService()
    const { code, stdout } = await check([], { ...settings, PUBLIC_URL: service.url, TELEPHONY_FROM_NUMBER: NUMBER })
    expect(code).toBe(1)
    expect(stdout).toContain(`→ npm run connect-number -- ${NUMBER}\n`)
    expect(read(stdout).last).toMatch(/^7 ok, 1 failed, 0 skipped/)
  })

  it('says what is missing on a machine without accounts, and exits 1', async () => {
    const { code, stdout } = await check([], { TELEPHONY_API_BASE_URL: 'http://carrier.invalid' })
    expect(code).toBe(1)
    expect(read(stdout).states).toMatchObject({ settings: 'FAIL', 'carrier account': 'skipped', model: 'skipped' })
  })

  it('shows no secret, even when a server quotes one', async () => {
    const { settings } = await startSimulated()
    const service = await startService()
    service.answers['GET /livez'] = (_request, response) =>
      response.writeHead(404).end(`the key ${API_KEY} and the token ${ACCOUNT.authToken}`)
    const { stdout } = await check([], { ...settings, PUBLIC_URL: service.url })
    expect(stdout).toContain('the key *** and the token ***')
    for (const secret of ALL_SECRETS) expect(stdout).not.toContain(secret)
  })

  it.each([[['12']], [[NUMBER, NUMBER]], [['--force']]])('refuses the command line %j with code 2', async (args) => {
    expect(await check(args, {})).toMatchObject({ code: 2, stdout: '' })
  })

  it('explains itself', async () => {
    expect(await check(['--help'], {})).toMatchObject({ code: 0, stdout: expect.stringContaining('--voice') })
  })
})
