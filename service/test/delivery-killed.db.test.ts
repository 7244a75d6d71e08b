import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { killPrograms, startProgram } from './harness/program.ts'
import { copyTemplate } from './harness/template.ts'
import { type Received, startWebhookTarget, type WebhookTarget } from './harness/webhook-target.ts'

const SECRET = `whsec_${Buffer.alloc(32, 9).toString('base64')}`

let target: WebhookTarget
beforeEach(async () => {
  target = await startWebhookTarget()
})
afterEach(() => target.close())

function idOf({ headers }: Received): string {
  return String(headers['webhook-id'])
}

describe('a process that is killed', { timeout: 120_000 }, () => {
  const ADMIN_API_KEY = 'ak_key_of_the_delivery_tests'
  const key = { 'x-admin-key': ADMIN_API_KEY, 'content-type': 'application/json' }
  afterEach(killPrograms)

  async function put<Body>(address: string, path: string, body: unknown, method = 'PUT'): Promise<Body> {
    const sent = { method, headers: key, body: JSON.stringify(body) }
    const answer = await fetch(`${address}/api/v1/admin${path}`, sent)
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
    return (await answer.json()) as Body
  }

  it('has what it was sending, and what it had just written down, delivered after the next start as it was', async () => {
    const copy = await copyTemplate(inject('databaseTemplate'))
    try {
      const own = { ...copy.settings, ADMIN_API_KEY, OUTBOUND_ALLOW_PRIVATE_NETWORKS: 'true' }
      const first = startProgram(own)
      const address = await first.listening()
      target.answer('hang')
      await put(address, '/tenants/acme', { tenant_id: 'acme', webhook: { url: target.url, secret: SECRET } })
      const { created } = await put<{ created: { token: string } }>(
        address,
        '/tenants/acme/api-keys',
        { label: 'a' },
        'POST',
      )
      const headers = { authorization: `Bearer ${created.token}`, 'content-type': 'application/json' }
      const list = (phone: string) =>
        fetch(`${address}/api/v1/dnc`, { method: 'POST', headers, body: JSON.stringify({ phone }) })
      expect((await list('+12025550177')).status).toBe(200)
      await target.receive(1)
      expect((await list('+12025550178')).status).toBe(200)
      await first.end('SIGKILL')
      // Alone on its database the next one knows that nobody holds anything; else a minute has to pass.
      if (inject('databaseTemplate').kind === 'server') await loseLease(copy)
      const cut = target.received.length
      target.answer({ status: 204 })
      const second = startProgram(own)
      const again = await second.listening()
      const after = (await target.receive(cut + 2)).slice(cut)
      const deliveries = await fetch(`${again}/api/v1/webhook-deliveries`, { headers })
      const { deliveries: rows } = (await deliveries.json()) as { deliveries: { id: string }[] }
      expect(after.map(idOf).sort()).toEqual(rows.map(({ id }) => id).sort())
      expect(new Set(target.received.map((each) => `${idOf(each)} ${each.body}`)).size).toBe(2)
      await second.end('SIGTERM')
    } finally {
      await killPrograms()
      await copy.remove()
    }
  })

  /** A minute passes for the lease of what was claimed. */
  async function loseLease(copy: Awaited<ReturnType<typeof copyTemplate>>): Promise<void> {
    const { db, close } = await copy.open()
    await db
      .updateTable('webhook_outbox')
      .set({ leased_until: new Date(0) })
      .where('claim_token', 'is not', null)
      .execute()
    await close()
  }
})
