import { onTestFinished } from 'vitest'
import { TestClock } from '../../../test/harness/clock.ts'
import { type McpServerDouble, mcpDocument } from '../../../test/harness/mcp-server.ts'
import type { TenantId } from '../../kernel/ids.ts'
import { makeOutbound } from '../../platform/outbound/outbound.ts'
import type { SessionId } from '../../records/call-values.ts'
import { NO_ACCOUNT } from '../../tenancy/no-account.fixture.ts'
import { toRuntime } from '../../tenancy/tenant-defaults.ts'
import { notedControls } from './controls.fixture.ts'
import { makeTenantTools } from './tenant-tools.ts'
import type { ToolCall } from './tool.ts'

export type McpToolsOptions = { tools?: string[] | null; allowPrivate?: boolean }

/** The tools of a tenant whose document names the server and nothing else. They are closed with the test. */
export function mcpTools(server: McpServerDouble, { tools = null, allowPrivate = true }: McpToolsOptions = {}) {
  const clock = new TestClock()
  const warned: unknown[] = []
  const { request: ask } = makeOutbound({ clock, allowPrivate, resolve: async () => ['127.0.0.1'] })
  const log = { warn: (fields: unknown) => warned.push(fields) }
  const made = makeTenantTools({ clock, log, ask, version: '1.2.3' })
  onTestFinished(() => made.close())
  const tenant = toRuntime({ tenant_id: 'acme' as TenantId, tools: [mcpDocument(server, tools)] }, NO_ACCOUNT)
  const of = async (...names: string[]) => (await made.of(tenant, names)).map(({ declaration }) => declaration.name)
  const call: ToolCall = {
    ...{ tenant, callSid: 'CA1', sessionId: 's' as SessionId, streamSid: 'MZ1', agentName: 'Robin' },
    customerPhone: '+12025550101',
    controls: notedControls().controls,
  }
  async function run(args: unknown, { name = 'orders__look_up', signal = new AbortController().signal } = {}) {
    const tool = await made.find(tenant, name)
    if (!tool) throw new Error(`there is no tool ${name}`)
    return tool.run(args, call, signal)
  }
  return { clock, made, tenant, of, run, warned }
}
