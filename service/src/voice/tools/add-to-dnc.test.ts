import { expect, it } from 'vitest'
import type { TenantId } from '../../kernel/ids.ts'
import type { SessionId } from '../../records/call-values.ts'
import { toRuntime } from '../../tenancy/tenant-defaults.ts'
import { addToDnc, type DncDesk } from './add-to-dnc.ts'
import { notedControls } from './controls.fixture.ts'

const ACCOUNT = { account_sid: null, auth_token: null, from_number: null }

/** What is listed for who is at this number. */
async function listedOf(customerPhone: string, reason: string, redact_pii: boolean): Promise<unknown[]> {
  const listed: unknown[] = []
  const doNotCall: DncDesk = { add: async (...asked) => listed.push(asked) }
  const call = {
    tenant: toRuntime({ tenant_id: 'acme' as TenantId, compliance: { redact_pii } }, ACCOUNT),
    ...{ callSid: 'CA1', sessionId: '018f0000-0000-7000-8000-000000000001' as SessionId, streamSid: 'MZ1' },
    ...{ agentName: 'Robin', customerPhone, controls: notedControls().controls },
  }
  await addToDnc({ doNotCall }).run({ reason }, call, new AbortController().signal)
  return listed
}

it('lists the number that is dialled, where the carrier sends it with a prefix of its country', async () => {
  expect(await listedOf('+4402079460000', 'no', false)).toMatchObject([['acme', { phone: '+442079460000' }]])
})

it.each([
  [true, 'Reach me at [email] instead, or [phone].'],
  [false, 'Reach me at ana@example.org instead, or 202-555-0142.'],
])(
  'lists the whole number; the reason loses personal data where the tenant wants it: %j',
  async (redact_pii, reason) => {
    const said = 'Reach me at ana@example.org instead, or 202-555-0142.'
    expect(await listedOf('+12025550101', said, redact_pii)).toEqual([
      ['acme', { phone: '+12025550101', reason, source: 'Robin', isWish: true }],
    ])
  },
)
