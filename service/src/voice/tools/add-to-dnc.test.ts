import { expect, it } from 'vitest'
import type { TenantId } from '../../kernel/ids.ts'
import type { SessionId } from '../../records/call-values.ts'
import { toRuntime } from '../../tenancy/tenant-defaults.ts'
import { addToDnc, type DncDesk } from './add-to-dnc.ts'
import { notedControls } from './controls.fixture.ts'

const ACCOUNT = { account_sid: null, auth_token: null, from_number: null }

it.each([
  [true, 'Reach me at [email] instead, or [phone].'],
  [false, 'Reach me at ana@example.org instead, or 202-555-0142.'],
])(
  'lists the whole number; the reason loses personal data where the tenant wants it: %j',
  async (redact_pii, reason) => {
    const listed: unknown[] = []
    const doNotCall: DncDesk = { add: async (...asked) => listed.push(asked) }
    const call = {
      tenant: toRuntime({ tenant_id: 'acme' as TenantId, compliance: { redact_pii } }, ACCOUNT),
      ...{ callSid: 'CA1', sessionId: '018f0000-0000-7000-8000-000000000001' as SessionId, streamSid: 'MZ1' },
      ...{ agentName: 'Robin', customerPhone: '+12025550101', controls: notedControls().controls },
    }
    const said = { reason: 'Reach me at ana@example.org instead, or 202-555-0142.' }
    await addToDnc({ doNotCall }).run(said, call, new AbortController().signal)
    expect(listed).toEqual([['acme', { phone: '+12025550101', reason, source: 'Robin' }]])
  },
)
