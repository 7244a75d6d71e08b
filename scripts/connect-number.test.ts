import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { type Answering, deafUrl, json, startAnswering } from './live/answering.fixture.ts'
import { runLive } from './live/run-live.fixture.ts'
import { ACCOUNT, NUMBER, startSimulated } from './live/simulated.fixture.ts'

vi.setConfig({ testTimeout: 60_000 })

const PUBLIC_URL = 'https://voice.example.com'
const ADMIN_KEY = 'ak_0123456789abc'
const connect = (args: string[], settings: Record<string, string>) => runLive('connect-number.ts', args, settings)

describe('npm run connect-number', () => {
  it('sets the three addresses, shows them before and after, and changes nothing the second time', async () => {
    const { carrier, settings } = await startSimulated()
    const first = await connect([NUMBER], { ...settings, PUBLIC_URL })
    expect(first).toMatchObject({ code: 0, stderr: '' })
    expect(first.stdout).toMatch(
      /a call comes in +\(nothing\)\n +→ POST https:\/\/voice\.example\.com\/api\/v1\/incoming-call\n/,
    )
    expect(first.stdout).toContain('Connected.\n')
    expect(await numberOf(carrier.baseUrl)).toMatchObject({
      voice_url: `${PUBLIC_URL}/api/v1/incoming-call`,
      voice_method: 'POST',
      voice_fallback_url: `${PUBLIC_URL}/api/v1/call-resume`,
      voice_fallback_method: 'POST',
      status_callback: `${PUBLIC_URL}/api/v1/call-status`,
      status_callback_method: 'POST',
    })
    const second = await connect([NUMBER], { ...settings, PUBLIC_URL })
    expect(second).toMatchObject({ code: 0, stderr: '' })
    expect(second.stdout).toContain('It is connected already: nothing was changed.')
    expect(second.stdout).not.toContain('→')
  })

  it('changes nothing in a dry run', async () => {
    const { carrier, settings } = await startSimulated()
    const { code, stdout } = await connect([NUMBER, '--dry-run'], { ...settings, PUBLIC_URL })
    expect(code).toBe(0)
    expect(stdout).toContain('A dry run: nothing was changed.')
    expect(await numberOf(carrier.baseUrl)).toMatchObject({ voice_url: '', status_callback: '' })
  })

  it('tells how to make the route, without a secret', async () => {
    const { settings } = await startSimulated()
    const { stdout } = await connect([NUMBER], { ...settings, PUBLIC_URL, PORT: '9090', ADMIN_API_KEY: ADMIN_KEY })
    expect(stdout).toContain('http://localhost:9090/api/v1/admin/tenants/demo/phone-routes\n')
    expect(stdout).toContain(`-d '{"phone_number":"${NUMBER}","agent_key":"front-desk"}'`)
    for (const secret of [ACCOUNT.authToken, ADMIN_KEY]) expect(stdout).not.toContain(secret)
  })

  it('knows by the settings of compose that there is a server, and no demo tenant', async () => {
    const { settings } = await startSimulated()
    const ofCompose = { POSTGRES_PASSWORD: 'f00d', ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('base64') }
    const { stdout } = await connect([NUMBER], { ...settings, PUBLIC_URL, ...ofCompose })
    expect(stdout).toContain('/api/v1/admin/tenants/TENANT/phone-routes\n')
    expect(stdout).not.toMatch(/demo|f00d/)
  })

  it.each([
    { where: 'in .env', file: `PORT=80\nADMIN_API_KEY=${ADMIN_KEY}\n` },
    { where: 'in the environment', file: null },
    { where: 'in the environment, with another one in .env', file: 'ADMIN_API_KEY=ak_of-another-service\n' },
  ])('lets the shell find the key of the admin API $where', async ({ file }) => {
    const { settings } = await startSimulated()
    const cwd = mkdtempSync(join(tmpdir(), 'parley-connect-'))
    onTestFinished(() => rmSync(cwd, { recursive: true }))
    if (file !== null) writeFileSync(join(cwd, '.env'), file)
    const { stdout } = await runLive(
      'connect-number.ts',
      [NUMBER],
      { ...settings, PUBLIC_URL, ADMIN_API_KEY: ADMIN_KEY },
      cwd,
    )
    const [show, make] = stdout.split('\n').filter((line) => line.startsWith('  curl'))
    const isInFile = file?.includes(ADMIN_KEY)
    const env = { PATH: process.env['PATH'], ...(isInFile ? {} : { ADMIN_API_KEY: ADMIN_KEY }) }
    for (const command of [show, make]) {
      const [header] = /"x-admin-key: [^"]+"/.exec(command ?? '') ?? []
      const said = execFileSync('sh', ['-c', `printf %s ${header}`], { cwd, env, encoding: 'utf8' })
      expect(said).toBe(`x-admin-key: ${ADMIN_KEY}`)
    }
  })

  it('names no demo tenant where a database server has none, and no route where there is no database', async () => {
    const { settings } = await startSimulated()
    const DATABASE_URL = 'postgres://parley:secret@db.invalid:5432/parley'
    const ENCRYPTION_KEY = Buffer.alloc(32, 7).toString('base64')
    const server = await connect([NUMBER], { ...settings, PUBLIC_URL, DATABASE_URL, ENCRYPTION_KEY })
    expect(server.stdout).toContain('/api/v1/admin/tenants/TENANT/phone-routes\n')
    expect(server.stdout).toContain(`-d '{"phone_number":"${NUMBER}","agent_key":"AGENT"}'`)
    expect(server.stdout).not.toMatch(/demo|front-desk/)
    const none = await connect([NUMBER], { ...settings, PUBLIC_URL, DATABASE_URL: 'none' })
    expect(none).toMatchObject({ code: 0, stdout: expect.not.stringContaining('curl') })
    expect(none.stdout).toContain('telephony.from_number')
  })

  it('takes a plain address of this machine for a carrier on this machine', async () => {
    const { settings } = await startSimulated()
    expect(await connect([NUMBER], { ...settings, PUBLIC_URL: 'http://127.0.0.1:8080' })).toMatchObject({ code: 0 })
    expect(await connect([NUMBER], settings)).toMatchObject({ code: 0 })
  })

  it('fails for a number that the account does not own', async () => {
    const { settings } = await startSimulated()
    const { code, stderr } = await connect(['+12025550199'], { ...settings, PUBLIC_URL })
    expect(code).toBe(1)
    expect(stderr).toContain(`+12025550199 is not a number of the account ${ACCOUNT.accountSid}.`)
  })

  it('says what to copy again when the credentials are wrong', async () => {
    const { settings } = await startSimulated()
    const { code, stderr } = await connect([NUMBER], {
      ...settings,
      PUBLIC_URL,
      TELEPHONY_AUTH_TOKEN: 'another-secret',
    })
    expect(code).toBe(1)
    expect(stderr).toMatch(/^The carrier refused \(20003, Authenticate\)\.\n→ Copy TELEPHONY_ACCOUNT_SID/)
    expect(stderr).not.toContain('another-secret')
  })

  it.each([
    { name: 'not set', publicUrl: '', told: 'PUBLIC_URL is not set' },
    { name: 'of this machine', publicUrl: 'https://localhost', told: 'PUBLIC_URL is https://localhost' },
    { name: 'without TLS', publicUrl: 'http://voice.example.com', told: 'TLS only' },
  ])('refuses a public address that is $name, before it asks the carrier anything', async ({ publicUrl, told }) => {
    const settings = {
      TELEPHONY_ACCOUNT_SID: ACCOUNT.accountSid,
      TELEPHONY_AUTH_TOKEN: ACCOUNT.authToken,
      // A reserved name: whoever asked there would fail in another way.
      TELEPHONY_API_BASE_URL: 'https://carrier.invalid',
    }
    const { code, stdout, stderr } = await connect([NUMBER], { ...settings, PUBLIC_URL: publicUrl })
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain(told)
  })

  it('says that no account is set', async () => {
    const { code, stderr } = await connect([NUMBER], { PUBLIC_URL })
    expect(code).toBe(1)
    expect(stderr).toContain('Set TELEPHONY_ACCOUNT_SID and TELEPHONY_AUTH_TOKEN')
  })

  it.each([[[]], [[NUMBER, NUMBER]], [['2025550123']], [[NUMBER, '--force']]])(
    'refuses the command line %j with code 2',
    async (args) => {
      const { code, stdout, stderr } = await connect(args, {})
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
      expect(stderr).not.toMatch(/^\s+at /m)
    },
  )

  it('names a setting that is wrong, with code 2', async () => {
    const { code, stderr } = await connect([NUMBER], { PUBLIC_URL: 'voice.example.com' })
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/^PUBLIC_URL must be an http/) })
  })

  it('explains itself', async () => {
    expect(await connect(['--help'], {})).toMatchObject({ code: 0, stdout: expect.stringContaining('--dry-run') })
  })
})

describe('npm run connect-number, at a carrier with more to tell', () => {
  it('warns of a trial account, and connects the number all the same', async () => {
    const { settings } = await startCarrier({ type: 'Trial' })
    const { code, stdout } = await connect([NUMBER], settings)
    expect(code).toBe(0)
    expect(stdout).toContain('This is a trial account')
    expect(stdout).toContain('Connected.')
  })

  it('fails for an account that is suspended, before it touches the number', async () => {
    const { settings, forms } = await startCarrier({ status: 'suspended' })
    const { code, stderr } = await connect([NUMBER], settings)
    expect({ code, forms }).toEqual({ code: 1, forms: [] })
    expect(stderr).toContain('The carrier account is suspended.')
  })

  it('takes an application away that would hide the addresses', async () => {
    const { settings, forms } = await startCarrier({ number: { voice_application_sid: 'AP1' } })
    const { code, stdout } = await connect([NUMBER], settings)
    expect(code).toBe(0)
    expect(stdout).toMatch(/application +AP1\n +→ \(nothing\)/)
    expect(forms[0]?.get('VoiceApplicationSid')).toBe('')
  })

  it.each([
    { number: { trunk_sid: 'TK1' }, told: 'SIP trunk (TK1)' },
    { number: { capabilities: { voice: false } }, told: 'takes no calls' },
  ])('fails when $told', async ({ number, told }) => {
    const { settings, forms } = await startCarrier({ number })
    const { code, stderr } = await connect([NUMBER], settings)
    expect({ code, forms }).toEqual({ code: 1, forms: [] })
    expect(stderr).toContain(told)
  })

  it('fails when the carrier keeps an old address though it said yes', async () => {
    const { settings, carrier } = await startCarrier({})
    carrier.answers[`POST ${NUMBERS}/PN1.json`] = json(200, numberBody({}))
    const { code, stderr } = await connect([NUMBER], settings)
    expect(code).toBe(1)
    expect(stderr).toContain('kept the old setting of: a call comes in, that address fails, a call has ended.')
  })

  it('says what the carrier says, and what a network failure is', async () => {
    const { settings, carrier } = await startCarrier({})
    carrier.answers[`GET ${NUMBERS}.json`] = json(429, { code: 20429, message: 'Too Many Requests' })
    expect((await connect([NUMBER], settings)).stderr).toBe(
      'The carrier refused (20429, Too Many Requests).\n→ The carrier has had too many requests: wait a minute and try again.\n',
    )
    const gone = { ...settings, TELEPHONY_API_BASE_URL: await deafUrl() }
    expect((await connect([NUMBER], gone)).stderr).toMatch(
      /^The carrier was not reached\. The connection was refused \(.*ECONNREFUSED.*\)\.\n→ /,
    )
  })
})

const ROOT = `/2010-04-01/Accounts/${ACCOUNT.accountSid}`
const NUMBERS = `${ROOT}/IncomingPhoneNumbers`

const numberBody = (more: object) => ({ sid: 'PN1', phone_number: NUMBER, capabilities: { voice: true }, ...more })

type CarrierFacts = { type?: string; status?: string; number?: object }

/** A carrier's REST surface with one number, which keeps what it is sent. */
async function startCarrier({ type = 'Full', status = 'active', number = {} }: CarrierFacts) {
  const forms: URLSearchParams[] = []
  const carrier: Answering = await startAnswering({
    [`GET ${ROOT}.json`]: json(200, { type, status }),
    [`GET ${NUMBERS}.json`]: json(200, { incoming_phone_numbers: [numberBody(number)] }),
    [`POST ${NUMBERS}/PN1.json`]: (request, response, body) => {
      const form = new URLSearchParams(body)
      forms.push(form)
      json(200, numberBody(settingsOf(form)))(request, response, body)
    },
  })
  const settings = {
    TELEPHONY_ACCOUNT_SID: ACCOUNT.accountSid,
    TELEPHONY_AUTH_TOKEN: ACCOUNT.authToken,
    TELEPHONY_API_BASE_URL: carrier.url,
    PUBLIC_URL,
  }
  return { carrier, forms, settings }
}

/** `VoiceUrl` comes back as `voice_url`. */
function settingsOf(form: URLSearchParams): object {
  const name = (key: string) => key.replace(/(?<!^)[A-Z]/g, (letter) => `_${letter}`).toLowerCase()
  return Object.fromEntries([...form].map(([key, value]) => [name(key), value]))
}

async function numberOf(baseUrl: string): Promise<unknown> {
  const authorization = `Basic ${Buffer.from(`${ACCOUNT.accountSid}:${ACCOUNT.authToken}`).toString('base64')}`
  const response = await fetch(`${baseUrl}${NUMBERS}.json?PhoneNumber=%2B12025550123`, { headers: { authorization } })
  const body = (await response.json()) as { incoming_phone_numbers: unknown[] }
  return body.incoming_phone_numbers[0]
}
