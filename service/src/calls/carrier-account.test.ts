import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import type { TenantId } from '../kernel/ids.ts'
import { makeCarriers } from '../platform/telephony/registry.ts'
import { toRuntime } from '../tenancy/tenant-defaults.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { CarrierRequests } from './carrier-requests.ts'
import { makeHangingUp } from './hang-up.ts'

const tenantWith = (auth_token: string, account_sid = 'AC1') =>
  toRuntime({ tenant_id: 'acme' as TenantId }, { account_sid, auth_token, from_number: null })

/** A carrier that takes one token by now, and what asks it about a call that began with another. */
async function rotated(present: () => Promise<TenantRuntime | null>) {
  const by: string[] = []
  const server = createServer(({ headers: { authorization = '' } }, response) => {
    const [, token = ''] = Buffer.from(authorization.slice('Basic '.length), 'base64').toString().split(':')
    by.push(token)
    response.writeHead(token === 'new' ? 200 : 401).end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const carriers = makeCarriers({ apiBaseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
  const asking = { clock: new TestClock(), carriers, tenants: { get: present } }
  const log = { warn: () => {}, error: () => {} }
  return {
    by,
    hangUp: () => makeHangingUp({ ...asking, log, noteEnded: async () => {} }).hangUp(tenantWith('old'), 'CA1'),
    async transfer() {
      const change = { verbs: [{ type: 'hangup' as const }] }
      const { type } = await new CarrierRequests(asking).make(tenantWith('old'), (carrier, account, signal) =>
        carrier.updateCall(account, 'CA1', change, signal),
      )
      return type
    },
  }
}

it('a call that began before its account had another token is ended, and put through, with that one', async () => {
  const { by, hangUp, transfer } = await rotated(async () => tenantWith('new'))
  expect([await hangUp(), await transfer()]).toEqual(['ended', 'done'])
  expect(by).toEqual(['old', 'new', 'old', 'new'])
})

it.each<[string, () => Promise<TenantRuntime | null>]>([
  ['it has no other one', async () => tenantWith('old')],
  ['its tenant has another account', async () => tenantWith('new', 'AC2')],
  ['its tenant is gone', async () => null],
  ['nobody knows', () => Promise.reject(new Error('the database is away'))],
])('a token that is refused is asked with once where %s', async (_where, present) => {
  const { by, hangUp, transfer } = await rotated(present)
  expect([await hangUp(), await transfer()]).toEqual(['failed', 'failed'])
  expect(by).toEqual(['old', 'old'])
})
