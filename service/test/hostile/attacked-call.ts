import { Registry } from 'prom-client'
import type { ResolvedAgent } from '../../src/agents/resolve.ts'
import { expectTarget } from '../../src/calls/transfer-target.ts'
import { readNumber } from '../../src/kernel/dialled-number.ts'
import { costlyKind } from '../../src/kernel/premium-numbers.ts'
import { makeLog } from '../../src/platform/log.ts'
import { destinationOf } from '../../src/platform/outbound/destination.ts'
import type { OutboundRequest } from '../../src/platform/outbound/exchange.ts'
import { mediaStreamsCodec } from '../../src/platform/telephony/twilio/codec.ts'
import { makeTracing } from '../../src/platform/tracing.ts'
import type { SessionId } from '../../src/records/call-values.ts'
import type { JournaledTool } from '../../src/records/journal-entry.ts'
import { agentConfigDefaults } from '../../src/tenancy/agent-config-defaults.ts'
import { NO_ACCOUNT } from '../../src/tenancy/no-account.fixture.ts'
import { toRuntime } from '../../src/tenancy/tenant-defaults.ts'
import type { TenantDocument } from '../../src/tenancy/tenant-document.ts'
import type { CallSession } from '../../src/voice/call-session.ts'
import { makeLiveMetrics } from '../../src/voice/live-metrics.ts'
import { makeSessionBuilder } from '../../src/voice/session-builder.ts'
import { makeTools } from '../../src/voice/tools/registry.ts'
import { makeTenantTools } from '../../src/voice/tools/tenant-tools.ts'
import { TestClock } from '../harness/clock.ts'
import { ScriptedModel } from '../harness/scripted-model.ts'
import { until } from '../harness/wait.ts'
import { TARGETS } from './attacks.ts'

/** Where a name leads; nobody is really asked. */
const ADDRESSES: Record<string, string> = { 'api.example.com': '93.184.215.14', 'inside.example.com': '10.1.2.3' }

const ORDER_STATUS = {
  ...{ type: 'http' as const, name: 'order_status', method: 'GET' as const },
  url: 'https://api.example.com/orders/{{number}}?tenant={{call.tenant}}',
  headers: { 'x-trace': '{{trace}}' },
  parameters: {
    type: 'object',
    properties: { number: { type: 'string', maxLength: 20 }, trace: { type: 'string' } },
    required: ['number'],
    additionalProperties: false,
  },
}

/** Tools whose addresses a tenant was talked into. */
const INSIDE: Record<string, string> = {
  metadata_of_the_cloud: 'http://169.254.169.254/latest/meta-data/',
  database_of_the_house: 'http://10.0.0.5:5432/',
  printer: 'http://printer.local/',
  loopback: 'http://[::ffff:127.0.0.1]:8080/api/v1/admin/tenants',
  name_that_leads_inside: 'https://inside.example.com/',
}

const BUILT_INS = [
  ...['end_call', 'transfer_call', 'hand_off', 'schedule_callback', 'add_to_dnc', 'send_dtmf', 'pause_recording'],
  ...['record_outcome', 'escalate_to_human'],
]

function agentOf(agentKey: string): ResolvedAgent {
  const config = agentConfigDefaults({ tools: [...BUILT_INS, 'order_status', 'orders', ...Object.keys(INSIDE)] })
  return { agentId: null, agentKey, versionId: null, versionNumber: null, agentName: agentKey, config }
}

const AGENTS: Record<string, string[]> = { acme: ['desk', 'sales'], globex: ['vault'] }

/** How a tool that was asked for ended: what the model was told, and what is kept of it. */
export type Told = { output: Record<string, unknown>; kept: JournaledTool | undefined }

/** A call of the tenant `acme` in which the model asks for tools, and everything that tools can do beyond it. */
export class AttackedCall {
  readonly model = new ScriptedModel()
  readonly clock = new TestClock()
  /** What was really done, in the order in which it was. */
  readonly done: unknown[][] = []
  /** Of each tool that was asked for, how it ended. */
  readonly kept: JournaledTool[] = []
  session!: CallSession
  #asked = 0

  static async begin(mcpTools: readonly string[] = ['look_up']): Promise<AttackedCall> {
    const call = new AttackedCall()
    await call.#begin(mcpTools)
    return call
  }

  #keep(tool: JournaledTool): void {
    if (tool.result !== null) this.kept.push(tool)
  }

  async #begin(mcpTools: readonly string[]): Promise<void> {
    const { clock, model, done } = this
    const log = makeLog({ level: 'silent', secrets: [], destination: { write: () => {} } })
    const tools = Object.entries(INSIDE).map(([name, url]) => ({
      type: 'http' as const,
      name,
      url,
      method: 'GET' as const,
    }))
    const orders = { type: 'mcp' as const, name: 'orders', url: 'https://api.example.com/mcp', tools: [...mcpTools] }
    const document = { tenant_id: 'acme', transfer_targets: TARGETS, tools: [ORDER_STATUS, ...tools, orders] }
    const tenant = toRuntime(document as unknown as TenantDocument, NO_ACCOUNT)
    const tenantTools = makeTenantTools({ clock, log, version: '0.0.0', ask: (request) => this.#ask(request) })
    const agent = agentOf('desk')
    const builtIns = makeTools({
      ...{ clock, tenantTools, clips: { of: async () => [] }, costlyKind: (phone) => costlyKind(readNumber(phone)) },
      outcomes: {
        record: async (tenantId, sessionId, change) => this.#did('outcome', [tenantId, sessionId, change], []),
      },
      resolveAgent: async ({ tenant_id }, choice) => {
        const wanted = choice && 'agentKey' in choice ? choice.agentKey : null
        return agentOf(AGENTS[tenant_id]?.find((key) => key === wanted) ?? 'desk')
      },
      kept: {
        tasks: {
          schedule: async (_tenant, task) => this.#did('callback', [task], { id: 't1' as never, due_at: task.dueAt }),
        },
        escalations: { escalate: async (...asked) => this.#did('escalation', asked, undefined) },
        doNotCall: { add: async (...asked) => this.#did('listed', asked, undefined) },
      },
    })
    const builder = makeSessionBuilder({
      ...{ clock, log, model, tools: builtIns, modelSessionMs: 3_000_000 },
      tracing: makeTracing(clock),
      journal: { of: () => ({ append: () => {}, forget: () => {}, tool: (tool) => this.#keep(tool) }) },
      metrics: makeLiveMetrics(new Registry(), () => 0),
      isHeld: async () => true,
      transferOf: () => ({
        expectTarget: (target) => expectTarget(tenant, target),
        begin: async (_id, request) => this.#did('transfer', [request], { cancel: () => {}, leave: () => {} }),
        putThrough: () => {},
      }),
      checkpoint: () => {},
      carrierCalls: {
        async hangUp() {
          done.push(['hang-up'])
          return 'ended'
        },
        apologise: () => void done.push(['apology']),
      },
    })
    const { session } = builder.build(
      {
        ...{
          tenant,
          agent,
          callSid: 'CA1',
          streamSid: 'MZ1',
          epoch: 1,
          codec: mediaStreamsCodec,
          direction: 'inbound',
        },
        ...{ from: '+12025550123', to: '+12025550140', orgId: null },
        sessionId: '018f0000-0000-7000-8000-000000000001' as SessionId,
        tools: await tenantTools.of(tenant, agent.config.tools),
        carrier: { send: () => {}, sendAll: () => {}, bufferedBytes: () => 0, close: () => {} },
      },
      () => {},
    )
    this.session = session
    session.dispatch({ type: 'opened' })
    await until(() => session.state.phase === 'talking', { what: 'the call to begin' })
  }

  #did<T>(what: string, with_: unknown[], answer: T): T {
    this.done.push([what, ...with_])
    return answer
  }

  /** The guard is the real one; what it lets through is answered here. */
  async #ask(request: OutboundRequest) {
    const resolve = async (host: string) => {
      const address = ADDRESSES[host]
      if (!address) throw new Error(`nobody knows ${host}`)
      return [address]
    }
    await destinationOf(request.url, { resolve, allowPrivate: false })
    const asked = JSON.parse(request.body?.toString() || '{}') as { id?: number; method?: string }
    const isList = asked.method !== undefined && asked.method !== 'tools/call'
    if (!isList) this.done.push(['request', request.url, request.body])
    const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: asked.id, result: resultOf(asked.method) }))
    return { status: 200, headers: { 'content-type': 'application/json' }, body, isWhole: true, isTooLong: false }
  }

  /** The model, talked into it by the caller, asks for a tool in the middle of the conversation, and is told what came of it. */
  async asks(tool: string, argumentsText: string): Promise<Told> {
    this.#asked += 1
    const [responseId, callId] = [`resp_${this.#asked}`, `call_${this.#asked}`]
    const { last } = this.model
    last.tell({ type: 'committed', itemId: `turn_${this.#asked}`, previousItemId: null })
    last.tell({ type: 'response_started', responseId })
    last.tell({ type: 'tool_call', responseId, itemId: `item_${this.#asked}`, callId, name: tool, argumentsText })
    const usage = { inputTokens: 1, outputTokens: 1, cachedTokens: 0, audioSeconds: 0 }
    last.tell({ type: 'response_done', responseId, status: 'completed', errorCode: null, fault: null, usage })
    const result = await until(
      () => last.commands.find((command) => command.type === 'tool_result' && command.callId === callId),
      { what: `what came of ${tool}` },
    )
    const output = result.type === 'tool_result' ? (JSON.parse(result.output) as Record<string, unknown>) : {}
    return { output, kept: this.kept.find((one) => one.callId === callId) }
  }

  /** Whether the caller has still somebody to talk to, who is asked for the next words. */
  get goesOn(): boolean {
    const { phase, ending, transfer } = this.session.state
    const isAsked = this.model.last.commands.some(({ type }) => type === 'respond')
    return phase === 'talking' && ending === null && transfer === null && isAsked
  }

  async end(): Promise<void> {
    this.session.dispatch({ type: 'hung_up' })
    await this.clock.advance(10_000)
  }
}

const INPUT = { type: 'object', properties: {} }

/** The server has more tools than the tenant lets its agents have. */
function resultOf(method: string | undefined): Record<string, unknown> {
  if (method === 'initialize')
    return { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'orders', version: '1' } }
  if (method !== 'tools/list') return {}
  return { tools: ['look_up', 'delete_all', 'refund'].map((name) => ({ name, description: name, inputSchema: INPUT })) }
}
