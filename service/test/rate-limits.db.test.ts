import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { Browser } from './harness/browser.ts'
import { useCallApp } from './harness/call-app.ts'
import { useDatabase } from './harness/database.ts'
import { StreamClient } from './harness/stream-client.ts'
import { until } from './harness/wait.ts'

const test = useDatabase()
const LIMITS = { RATE_LIMIT_IP_PER_MINUTE: '10', RATE_LIMIT_TENANT_PER_MINUTE: '20' }
const PASSWORD = 'a long enough password'
const app = useCallApp(test, { settings: { ...LIMITS, ADMIN_USERNAME: 'ada', ADMIN_PASSWORD: PASSWORD } })

const get = (path: string, headers: Record<string, string> = {}) => fetch(app.served.address + path, { headers })

/** Guesses until the address may guess no more. */
async function guess(): Promise<void> {
  for (let n = 0; n < 10; n += 1)
    expect((await get('/api/v1/call-logs', { authorization: 'Bearer guessed-by-n' })).status).toBe(401)
  expect((await get('/api/v1/call-logs')).status).toBe(429)
}

describe('the limits of the whole service', () => {
  it('keep strangers to theirs, and no carrier, administrator, probe or tenant from anything', async () => {
    await guess()
    for (let n = 0; n < 15; n += 1) await app.ring({ CallSid: `CA${n}` })
    await app.served.administer('GET', '/tenants/acme')
    for (const path of ['/livez', '/readyz', '/health', '/metrics']) expect((await get(path)).status).toBe(200)
    expect((await app.served.call('acme', 'GET', '/call-logs')).status).toBe(200)
    expect((await get('/unknown')).status).toBe(429)
  })

  it('let the guesses of an address that is full cost little, and no good key fail for them', async () => {
    const list = () => app.served.call('acme', 'GET', '/call-logs')
    expect((await list()).status).toBe(200)
    await guess()
    await app.clock.advance(1_000)
    const guessed = async () => (await get('/api/v1/call-logs', { authorization: 'Bearer guessed-by-n-more' })).headers
    for (let n = 0; n < 20; n += 1) expect((await guessed()).get('retry-after')).not.toBe('1')
    // Not looked up any more.
    expect((await guessed()).get('retry-after')).toBe('1')
    expect((await list()).status).toBe(200)
    await app.clock.advance(1_000)
    expect((await guessed()).get('retry-after')).not.toBe('1')
  })

  it('let made-up sessions cost as little, and no good one fail for them', async () => {
    const grace = new Browser(app.served)
    expect((await grace.login('ada', PASSWORD)).status).toBe(200)
    const page = async () => (await grace.call('GET', '/admin/auth/session')).body['authenticated']
    // The login counted for its address.
    await app.clock.advance(61_000)
    expect(await page()).toBe(true)
    await guess()
    await app.clock.advance(1_000)
    const guessed = async () => {
      const cookie = `parley_admin=${randomBytes(32).toString('base64url')}`
      return (await get('/api/v1/call-logs', { cookie })).headers
    }
    for (let n = 0; n < 20; n += 1) expect((await guessed()).get('retry-after')).not.toBe('1')
    // Not looked up any more.
    expect((await guessed()).get('retry-after')).toBe('1')
    expect(await page()).toBe(true)
  })

  it('count a callback with a wrong signature, and a stream with a wrong token', async () => {
    for (let n = 0; n < 5; n += 1) {
      const { status } = await app.post('/api/v1/incoming-call', { form: { CallSid: `CA${n}` }, token: 'wrong' })
      expect(status).toBe(401)
    }
    for (let n = 0; n < 4; n += 1) {
      await expect(StreamClient.open(app.served.address, '/media-stream/wrong-token')).rejects.toThrow('401')
    }
    const late = await StreamClient.open(app.served.address)
    late.start({ parameters: { stream_token: 'wrong' } })
    expect(await late.closed()).toBe(4401)
    await until(async () => (await get('/unknown')).status === 429, { what: 'the limit' })
    await expect(StreamClient.open(app.served.address, '/media-stream/wrong-token')).rejects.toThrow('429')
    // A good one is let in from the same address.
    expect((await app.talk({ CallSid: 'CA-good' })).closeCode).toBeNull()
  })

  it('count a key that opens a stream for its tenant', async () => {
    const headers = { authorization: `Bearer ${app.served.tokenOf('acme')}` }
    for (let n = 0; n < 20; n += 1) (await StreamClient.open(app.served.address, '/media-stream', headers)).terminate()
    await expect(StreamClient.open(app.served.address, '/media-stream', headers)).rejects.toThrow('429')
    expect((await get('/unknown')).status).toBe(404)
  })

  it("keep a tenant to the setting, or to its own document's", async () => {
    const list = () => app.served.call('acme', 'GET', '/call-logs')
    for (let n = 0; n < 20; n += 1) expect((await list()).status).toBe(200)
    expect(await list()).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
    const { config } = await app.served.administer<{ config: object }>('GET', '/tenants/acme')
    await app.served.administer('PUT', '/tenants/acme', { ...config, limits: { requests_per_minute: 22 } })
    expect([(await list()).status, (await list()).status, (await list()).status]).toEqual([200, 200, 429])
    await app.clock.advance(61_000)
    expect((await list()).status).toBe(200)
  })
})
