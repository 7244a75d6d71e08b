import { describe, expect, it } from 'vitest'
import { deafUrl, json, startAnswering } from '../answering.fixture.ts'
import { runCheck, SUBJECT_NUMBER } from '../checking.fixture.ts'
import { closingWith, refusingWith, startService, verifying } from '../service.fixture.ts'
import { ACCOUNT, startSimulated } from '../simulated.fixture.ts'
import { accountCheck, numberCheck } from './carrier.ts'
import { clockCheck } from './clock.ts'
import { publicAddressCheck } from './public-address.ts'
import { settingsCheck } from './settings.ts'
import { signedCallbackCheck } from './signed-callback.ts'
import { streamAddressCheck } from './stream-address.ts'

const KEY = { OPENAI_API_KEY: 'sk-1234567890' }
const HTTPS = { PUBLIC_URL: 'https://voice.example.com' }
/** A carrier on this machine, which makes plain addresses of this machine right. */
const LOCAL_CARRIER = { TELEPHONY_API_BASE_URL: 'http://127.0.0.1:4010' }

describe('settings', () => {
  it('are ok when all is set', async () => {
    expect(await runCheck(settingsCheck, { ...KEY, ...HTTPS })).toMatchObject({ state: 'ok', todo: null })
  })

  it('fail with everything that is missing', async () => {
    const { state, todo } = await runCheck(settingsCheck, { TELEPHONY_ACCOUNT_SID: '', TELEPHONY_AUTH_TOKEN: '' })
    expect(state).toBe('FAIL')
    for (const name of ['TELEPHONY_ACCOUNT_SID', 'OPENAI_API_KEY', 'PUBLIC_URL']) expect(todo).toContain(`Set ${name}`)
  })

  it('fail for an API key in place of the account', async () => {
    const settings = { ...KEY, ...HTTPS, TELEPHONY_ACCOUNT_SID: 'SK00000000000000000000000000000001' }
    expect(await runCheck(settingsCheck, settings)).toMatchObject({
      state: 'FAIL',
      todo: expect.stringContaining('AC'),
    })
  })

  it('warn of a rehearsal', async () => {
    const { state, todo } = await runCheck(settingsCheck, { ...KEY, ...HTTPS, SIMULATOR: 'on' })
    expect([state, todo]).toEqual(['ok', expect.stringContaining('SIMULATOR=on')])
  })
})

describe('the public address', () => {
  const check = (PUBLIC_URL: string) => runCheck(publicAddressCheck, { ...LOCAL_CARRIER, PUBLIC_URL })

  it('is ok when it leads to the service', async () => {
    const service = await startService()
    expect(await check(service.url)).toMatchObject({ state: 'ok', found: expect.stringMatching(/back in \d+ ms/) })
  })

  it.each([
    { what: 'a login page', answer: { status: 200, body: 'not <html>' }, found: 'something that is not this service' },
    { what: 'another API', answer: { status: 404, body: { ok: false } }, found: '/livez answers 404' },
    {
      what: 'a tunnel without the service',
      answer: { status: 502, body: 'Bad gateway' },
      found: 'the service behind it is not',
    },
  ])('fails for $what', async ({ answer, found }) => {
    const other = await startAnswering({ 'GET /livez': json(answer.status, answer.body) })
    expect(await check(other.url)).toMatchObject({ state: 'FAIL', found: expect.stringContaining(found) })
  })

  it('fails for a redirect, and names where it leads', async () => {
    const other = await startAnswering({
      'GET /livez': (_request, response) =>
        response.writeHead(301, { location: 'https://www.example.com/livez' }).end(),
    })
    expect(await check(other.url)).toMatchObject({
      state: 'FAIL',
      found: expect.stringContaining('redirects to https://www.example.com/livez'),
    })
  })

  it('fails when nothing listens, and when the port speaks no TLS', async () => {
    expect(await check(await deafUrl())).toMatchObject({ state: 'FAIL', found: expect.stringContaining('refused') })
    const service = await startService()
    expect(await check(service.url.replace('http:', 'https:'))).toMatchObject({
      state: 'FAIL',
      found: expect.stringContaining('does not speak TLS'),
    })
  })

  it('fails for an address that the carrier cannot reach, and is skipped without one', async () => {
    expect(await runCheck(publicAddressCheck, { PUBLIC_URL: 'http://localhost:8080' })).toMatchObject({ state: 'FAIL' })
    expect(await runCheck(publicAddressCheck, {})).toMatchObject({ state: 'skipped' })
  })
})

describe('the clock', () => {
  const at = async (offsetMs: number) => {
    const carrier = await startAnswering({
      'HEAD /': (_request, response) =>
        response.writeHead(404, { date: new Date(Date.now() + offsetMs).toUTCString() }).end(),
    })
    return runCheck(clockCheck, { TELEPHONY_API_BASE_URL: carrier.url })
  }

  it.each([0, 5_000, -5_000])('is ok %i ms off', async (offsetMs) => {
    expect(await at(offsetMs)).toMatchObject({ state: 'ok' })
  })

  it.each([
    { offsetMs: 120_000, told: 'behind' },
    { offsetMs: -120_000, told: 'ahead of' },
  ])('fails two minutes $told', async ({ offsetMs, told }) => {
    const { state, found } = await at(offsetMs)
    expect([state, found]).toEqual(['FAIL', expect.stringMatching(new RegExp(`(119|120|121) s ${told}`))])
  })

  it('is skipped when the carrier does not tell the time', async () => {
    const carrier = await startAnswering({
      'HEAD /': (_request, response) => {
        response.sendDate = false
        response.writeHead(200).end()
      },
    })
    expect(await runCheck(clockCheck, { TELEPHONY_API_BASE_URL: carrier.url })).toMatchObject({ state: 'skipped' })
  })
})

describe('the carrier account and number', () => {
  it('are ok when the number calls this service', async () => {
    const { settings } = await startSimulated()
    const order = { ...settings, PUBLIC_URL: 'http://localhost:8080' }
    expect(await runCheck(accountCheck, order)).toMatchObject({ state: 'ok', todo: null })
    const form = new URLSearchParams({
      VoiceUrl: 'http://localhost:8080/api/v1/incoming-call',
      VoiceFallbackUrl: 'http://localhost:8080/api/v1/call-resume',
      StatusCallback: 'http://localhost:8080/api/v1/call-status',
    })
    expect(await runCheck(numberCheck, order, { phoneNumber: SUBJECT_NUMBER })).toMatchObject({
      state: 'FAIL',
      found: expect.stringContaining('(nothing) in place of POST http://localhost:8080/api/v1/incoming-call'),
      todo: `npm run connect-number -- ${SUBJECT_NUMBER}`,
    })
    await setNumber(settings['TELEPHONY_API_BASE_URL'] ?? '', form)
    expect(await runCheck(numberCheck, order, { phoneNumber: SUBJECT_NUMBER })).toMatchObject({ state: 'ok' })
  })

  it('fail for wrong credentials', async () => {
    const { settings } = await startSimulated()
    expect(await runCheck(accountCheck, { ...settings, TELEPHONY_AUTH_TOKEN: 'wrong-token' })).toMatchObject({
      state: 'FAIL',
      found: expect.stringContaining('20003'),
      todo: expect.stringContaining('TELEPHONY_AUTH_TOKEN'),
    })
  })

  it('tell of a trial, and fail for a suspended account', async () => {
    const path = `GET /2010-04-01/Accounts/${ACCOUNT.accountSid}.json`
    const carrier = await startAnswering({ [path]: json(200, { status: 'active', type: 'Trial' }) })
    const settings = { TELEPHONY_API_BASE_URL: carrier.url }
    expect(await runCheck(accountCheck, settings)).toMatchObject({
      state: 'ok',
      todo: expect.stringContaining('trial'),
    })
    carrier.answers[path] = json(200, { status: 'suspended', type: 'Full' })
    expect(await runCheck(accountCheck, settings)).toMatchObject({ state: 'FAIL' })
  })

  it('fail for a number that is not of the account, and are skipped without one', async () => {
    const { settings } = await startSimulated()
    const other = '+12025550199' as typeof SUBJECT_NUMBER
    expect(await runCheck(numberCheck, settings, { phoneNumber: other })).toMatchObject({ state: 'FAIL' })
    expect(await runCheck(numberCheck, settings)).toMatchObject({ state: 'skipped' })
    const none = { ...settings, TELEPHONY_ACCOUNT_SID: '', TELEPHONY_AUTH_TOKEN: '' }
    expect(await runCheck(accountCheck, none)).toMatchObject({ state: 'skipped' })
  })
})

describe('a signed callback', () => {
  const PATH = 'POST /api/v1/call-status'
  const check = (PUBLIC_URL: string, more: Record<string, string> = {}) =>
    runCheck(signedCallbackCheck, { ...LOCAL_CARRIER, PUBLIC_URL, ...more })

  it('is ok when it is taken and a wrong one is refused', async () => {
    const service = await startService()
    expect(await check(service.url)).toMatchObject({ state: 'ok' })
  })

  it('fails when the service has another token, or a proxy changes the path', async () => {
    const service = await startService()
    service.answers[PATH] = verifying(service, 'another-token')
    expect(await check(service.url)).toMatchObject({
      state: 'FAIL',
      found: 'The service refuses the signature (401).',
      todo: expect.stringContaining('another TELEPHONY_AUTH_TOKEN'),
    })
    service.answers[PATH] = verifying(service, ACCOUNT.authToken, `${service.url}/prefix`)
    expect(await check(service.url)).toMatchObject({ state: 'FAIL', todo: expect.stringContaining('a proxy changes') })
  })

  it('tells when the service was started before PUBLIC_URL was set', async () => {
    const service = await startService()
    service.answers[PATH] = verifying(service, ACCOUNT.authToken, 'http://localhost:9099')
    expect(await check(service.url, { PORT: '9099' })).toMatchObject({
      state: 'FAIL',
      todo: expect.stringContaining('start it again'),
    })
  })

  it('fails when a wrong signature is taken as well', async () => {
    const service = await startService()
    service.answers[PATH] = json(200, { ok: true })
    expect(await check(service.url)).toMatchObject({ state: 'FAIL', todo: expect.stringContaining('Do not go live') })
  })

  it.each([
    { status: 404, todo: 'takes a part of the path away' },
    { status: 403, todo: 'firewall' },
    { status: 500, todo: 'log' },
  ])('fails for a $status', async ({ status, todo }) => {
    const service = await startService()
    service.answers[PATH] = json(status, { ok: false })
    expect(await check(service.url)).toMatchObject({ state: 'FAIL', todo: expect.stringContaining(todo) })
  })
})

describe('the stream address', () => {
  const check = (PUBLIC_URL: string) => runCheck(streamAddressCheck, { ...LOCAL_CARRIER, PUBLIC_URL })

  it('is ok when the service itself closes the stream for want of a token', async () => {
    const service = await startService()
    expect(await check(service.url)).toMatchObject({ state: 'ok', found: expect.stringMatching(/opens in \d+ ms/) })
  })

  it.each([
    { status: 426, todo: 'does not pass the upgrade on' },
    { status: 404, todo: 'somewhere else' },
    { status: 502, todo: 'log of the tunnel' },
  ])('fails when it is refused with $status', async ({ status, todo }) => {
    const service = await startService()
    service.onUpgrade = refusingWith(status)
    expect(await check(service.url)).toMatchObject({
      state: 'FAIL',
      found: expect.stringContaining(`answers ${status}, not 101`),
      todo: expect.stringContaining(todo),
    })
  })

  it('fails when somebody else closes it', async () => {
    const service = await startService()
    service.onUpgrade = closingWith(1000)
    expect(await check(service.url)).toMatchObject({
      state: 'FAIL',
      found: expect.stringContaining('closed with 1000'),
    })
  })

  it('fails when nothing listens', async () => {
    expect(await check(await deafUrl())).toMatchObject({ state: 'FAIL', found: expect.stringContaining('refused') })
  })
})

async function setNumber(baseUrl: string, form: URLSearchParams): Promise<void> {
  const numbers = `${baseUrl}/2010-04-01/Accounts/${ACCOUNT.accountSid}/IncomingPhoneNumbers`
  const authorization = `Basic ${Buffer.from(`${ACCOUNT.accountSid}:${ACCOUNT.authToken}`).toString('base64')}`
  const found = await fetch(`${numbers}.json?PhoneNumber=%2B12025550123`, { headers: { authorization } })
  const { incoming_phone_numbers: all } = (await found.json()) as { incoming_phone_numbers: { sid: string }[] }
  await fetch(`${numbers}/${all[0]?.sid}.json`, { method: 'POST', headers: { authorization }, body: form })
}
