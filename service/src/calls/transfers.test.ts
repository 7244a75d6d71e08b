import { expect, it, onTestFinished } from 'vitest'
import { startCarrierRest } from '../../test/harness/carrier-rest.ts'
import { TestClock } from '../../test/harness/clock.ts'
import type { NodeId, TenantId } from '../kernel/ids.ts'
import { makeBus } from '../platform/bus/bus.ts'
import { memoryWire } from '../platform/bus/memory.ts'
import { makeLog } from '../platform/log.ts'
import { makeCarriers } from '../platform/telephony/registry.ts'
import { mediaStreamsCodec } from '../platform/telephony/twilio/codec.ts'
import type { SessionId } from '../records/call-values.ts'
import { agentConfigDefaults } from '../tenancy/agent-config-defaults.ts'
import { toRuntime } from '../tenancy/tenant-defaults.ts'
import { CarrierRequests } from './carrier-requests.ts'
import { transfersTopic } from './transfer-callbacks.ts'
import { makeTransfers } from './transfers.ts'

const NODE = 'n1' as NodeId
const ACCOUNT = { account_sid: 'AC1', auth_token: 'token', from_number: null }
const AGENT = { agentId: null, agentKey: null, versionId: null, versionNumber: null, agentName: 'Robin' }

it('brings who takes a call to its caller at once, however long the records take', async () => {
  const [clock, rest, log] = [new TestClock(), await startCarrierRest(), makeLog({ level: 'silent', secrets: [] })]
  onTestFinished(() => rest.close())
  rest.reply = () => ({ status: 200, body: { sid: 'CA-target' } })
  const bus = makeBus({ wire: memoryWire(), clock, log, onDropped: () => {} })
  const transfers = makeTransfers({
    ...{ clock, log, bus, nodeId: NODE },
    requests: new CarrierRequests({ clock, carriers: makeCarriers({ apiBaseUrl: rest.baseUrl }) }),
    tokens: () => ({ issueTransfer: () => 'x' }),
    flush: async () => undefined,
    // A database that hangs.
    putThrough: () => new Promise(() => {}),
    resumeUrl: () => 'https://voice.example.com/api/v1/call-resume',
    publicUrl: () => 'https://voice.example.com',
  })
  const told: string[] = []
  const news = { sent: () => void told.push('sent'), through: () => {}, failed: (why: string) => void told.push(why) }
  const call = transfers.of({
    ...{ tenant: toRuntime({ tenant_id: 'acme' as TenantId }, ACCOUNT), callSid: 'CA1', streamSid: 'MZ1', epoch: 1 },
    ...{ direction: 'inbound', from: '+12025550101', to: '+12025550100', orgId: null, codec: mediaStreamsCodec },
    sessionId: '018f0000-0000-7000-8000-000000000001' as SessionId,
    agent: { ...AGENT, config: agentConfigDefaults({}) },
    carrier: { send: () => {}, sendAll: () => {}, bufferedBytes: () => 0, close: () => {} },
  })
  await call.begin('t1', { target: '+12025550103', summary: '', isWarm: true }, news)
  const verbs = await bus.ask(transfersTopic(NODE), { type: 'key', id: 't1', digits: '1' }, 8_000)
  expect(verbs).toEqual([{ type: 'conference', room: 'transfer-t1' }, { type: 'hangup' }])
  expect(told).toEqual(['sent'])
  transfers.close()
}, 5_000)
