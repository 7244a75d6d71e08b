import { createHmac } from 'node:crypto'
import { describe, expect, it, onTestFinished } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { until } from '../../test/harness/wait.ts'
import type { AgentVersionId, TenantId } from '../kernel/ids.ts'
import { makeStreamTokens, type StreamClaims, type StreamGrant } from './stream-token.ts'

const SECRET = 'the secret of the stream token tests'
const OLD_SECRET = 'the secret that was used before them'
const TTL_MS = 120_000

const GRANT: StreamGrant = {
  tenant: 'acme' as TenantId,
  call_sid: 'CA00000000000000000000000000000001',
  agent_version_id: '018f0000-0000-7000-8000-000000000001' as AgentVersionId,
  direction: 'inbound',
  epoch: 1,
}

describe('stream tokens', () => {
  const test = useDatabase()

  function tokens({ clock = new TestClock(), secrets = [SECRET] as [string, ...string[]], db = test.db } = {}) {
    const made = makeStreamTokens({ db, clock, log: { warn: () => {} }, secrets, ttlMs: TTL_MS })
    made.start()
    onTestFinished(() => made.close())
    return made
  }

  function read(token: string, secrets: [string, ...string[]] = [SECRET]): StreamClaims | null {
    return tokens({ secrets }).read(token)
  }

  it('say what they were issued for', () => {
    expect(read(tokens().issue(GRANT))).toMatchObject(GRANT)
  })

  it('are compact JWS of HS256, short enough for a parameter of a carrier', () => {
    const longest = {
      ...GRANT,
      why: 'no_answer' as const,
      direction: 'outbound' as const,
      tenant: 'a'.repeat(63) as TenantId,
      call_sid: 'C'.repeat(64),
    }
    const token = tokens().issue(longest)
    const [header = '', payload = '', signature = ''] = token.split('.')
    expect(JSON.parse(Buffer.from(header, 'base64url').toString())).toEqual({ alg: 'HS256' })
    expect(signature).toBe(createHmac('sha256', SECRET).update(`${header}.${payload}`).digest('base64url'))
    expect(`stream_token${token}`.length).toBeLessThan(500)
  })

  it('end when their time is over', async () => {
    const clock = new TestClock()
    const made = tokens({ clock })
    const token = made.issue(GRANT)
    await clock.advance(TTL_MS - 1)
    expect(made.read(token)).not.toBeNull()
    await clock.advance(1_001)
    expect(made.read(token)).toBeNull()
  })

  it('of another node are taken for as long as the clocks of nodes may be apart, once over all of them', async () => {
    const clock = new TestClock()
    const [here, there] = [tokens({ clock }), tokens({ clock })]
    const [first, second] = [here.issue(GRANT), here.issue(GRANT)]
    expect(await there.spend(there.read(first) as StreamClaims)).toBe(true)
    await clock.advance(TTL_MS + 299_000)
    expect([first, second].map((token) => here.read(token))).toEqual([null, null])
    const claims = [first, second].map((token) => there.read(token) as StreamClaims)
    expect(await Promise.all(claims.map((each) => there.spend(each)))).toEqual([false, true])
    await clock.advance(2_000)
    expect(there.read(second)).toBeNull()
  })

  it('of the previous secret are taken, those of any other are not', () => {
    const token = tokens({ secrets: [OLD_SECRET] }).issue(GRANT)
    expect(read(token, [SECRET, OLD_SECRET])).not.toBeNull()
    expect(read(token, [SECRET])).toBeNull()
  })

  it('are refused when a bit of them is changed', () => {
    const token = tokens().issue(GRANT)
    const spoilt = [...token].map(
      (char, at) => `${token.slice(0, at)}${char === 'A' ? 'B' : 'A'}${token.slice(at + 1)}`,
    )
    expect(spoilt.filter((text) => text !== token && read(text) !== null)).toEqual([])
  })

  it('are refused with another algorithm, none, or another spelling of the header', () => {
    const [, payload = ''] = tokens().issue(GRANT).split('.')
    const forged = ['{"alg":"none"}', '{"alg":"HS512"}', '{"alg": "HS256"}', '{"typ":"JWT","alg":"HS256"}'].map(
      (header) => {
        const text = `${Buffer.from(header).toString('base64url')}.${payload}`
        return `${text}.${createHmac('sha256', SECRET).update(text).digest('base64url')}`
      },
    )
    expect([...forged, `${forged[0]?.split('.').slice(0, 2).join('.')}.`].map((text) => read(text))).toEqual(
      Array<null>(5).fill(null),
    )
  })

  it.each(['', '.', '..', '...', 'a.b.c', 'x'.repeat(10_000)])(
    'are refused when they are no such thing: %#',
    (text) => {
      expect(read(text)).toBeNull()
    },
  )

  it('are refused when they are signed by us and say something else', () => {
    const [header = ''] = tokens().issue(GRANT).split('.')
    const others = ['null', '[]', '{"tenant":"acme"}', 'no JSON'].map((claims) => {
      const text = `${header}.${Buffer.from(claims).toString('base64url')}`
      return `${text}.${createHmac('sha256', SECRET).update(text).digest('base64url')}`
    })
    expect(others.map((text) => read(text))).toEqual([null, null, null, null])
  })

  it('let in one of a hundred that use the same one at once, over all nodes', async () => {
    const [here, there] = [tokens(), tokens({ db: (await test.anotherNode()).db })]
    const claims = read(tokens().issue(GRANT)) as StreamClaims
    const tries = Array.from({ length: 100 }, (_, i) => (i % 2 === 0 ? here : there).spend(claims))
    expect((await Promise.all(tries)).filter((won) => won)).toHaveLength(1)
  })

  it('of one call are each good for themselves', async () => {
    const made = tokens()
    const claims = [made.issue(GRANT), made.issue(GRANT)].map((token) => made.read(token) as StreamClaims)
    expect(await Promise.all(claims.map((each) => made.spend(each)))).toEqual([true, true])
  })

  it('that were used are forgotten, but not while a node with a slow clock could take them', async () => {
    const clock = new TestClock()
    const made = tokens({ clock })
    await made.spend(made.read(made.issue(GRANT)) as StreamClaims)
    const count = async () => (await test.db.selectFrom('spent_stream_tokens').select('jti').execute()).length
    await clock.advance(TTL_MS + 540_000)
    await made.close()
    expect(await count()).toBe(1)

    const later = tokens({ clock })
    await clock.advance(120_000)
    await until(async () => (await count()) === 0, { what: 'the sweep' })
    await later.close()
  })
})
