import { AppError } from '../../kernel/errors.ts'
import type { Log } from '../../platform/log.ts'
import { OutboundFault } from '../../platform/outbound/fault.ts'
import type { TenantRuntime } from '../../tenancy/tenant-runtime.ts'
import { isToolOf, unknownTools } from '../../tenancy/tenant-tools.ts'
import type { AskingTool } from './asking-tool.ts'
import { type AskDeps, httpTool } from './http-tool.ts'
import { makeMcpLists } from './mcp-lists.ts'
import type { RuntimeHttpTool } from './tool-request.ts'

/** The tools that tenants' documents name. */
export type TenantTools = {
  /**
   * Those that an agent may use by the names in its config. The name of a server stands for all that it offers; one tool of it
   * is named `server__tool`. Waits 2 s at most, for servers that were not asked yet, and never rejects. A name that is that of no
   * tool is left out, and told in the log, once until the tenant's document changes.
   */
  of(tenant: TenantRuntime, names: readonly string[]): Promise<AskingTool[]>
  /**
   * One of all that the tenant has; null when there is none of this name.
   *
   * @throws AppError `upstream_failed` when the server whose tool it may be does not tell its tools, `invalid_request` when it must not be
   * asked.
   */
  find(tenant: TenantRuntime, name: string): Promise<AskingTool | null>
  close(): Promise<void>
}

type Deps = AskDeps & { log: Pick<Log, 'warn'>; version: string }

/** Providers take no more than this in a session; what is beyond it is left out. */
const MAX_TOOLS = 120

export function makeTenantTools(deps: Deps): TenantTools {
  const made = new WeakMap<RuntimeHttpTool, AskingTool>()
  const lists = makeMcpLists(deps)
  /** What was said of the agents of a tenant, as its document is. */
  const told = new WeakMap<TenantRuntime, Set<string>>()

  function ownTool(tool: RuntimeHttpTool): AskingTool {
    const known = made.get(tool) ?? httpTool(deps, tool)
    made.set(tool, known)
    return known
  }

  /** Those of which `isWanted` takes the name, or the server's before it. Of two of one name the first counts. */
  async function chosen(
    { tools, tenant_id }: TenantRuntime,
    isWanted: (name: string, server: string | null) => boolean,
    mayBeOf: (server: string) => boolean,
  ): Promise<AskingTool[]> {
    const found = await Promise.all(
      tools.map(async (tool) => {
        if (tool.type === 'http') return isWanted(tool.name, null) ? [ownTool(tool)] : []
        const offered = mayBeOf(tool.name) ? await lists.toolsOf(tool, tenant_id) : []
        return offered.filter(({ declaration }) => isWanted(declaration.name, tool.name))
      }),
    )
    const byName = new Map<string, AskingTool>()
    for (const tool of found.flat()) if (!byName.has(tool.declaration.name)) byName.set(tool.declaration.name, tool)
    return [...byName.values()].slice(0, MAX_TOOLS)
  }

  function tellUnknown(tenant: TenantRuntime, tools: string[]): void {
    const known = told.get(tenant) ?? new Set()
    const names = tools.join()
    if (tools.length === 0 || known.has(names)) return
    told.set(tenant, known.add(names))
    deps.log.warn({ tenant_id: tenant.tenant_id, tools }, 'an agent names tools that there are not')
  }

  return {
    of(tenant, names) {
      tellUnknown(tenant, unknownTools(names, tenant.tools))
      return chosen(
        tenant,
        (name, server) => names.includes(name) || (server !== null && names.includes(server)),
        (server) => names.some((name) => isToolOf(name, server)),
      )
    },
    async find(tenant, wanted) {
      const isWanted = (name: string) => name === wanted
      const mayBeOf = (server: string) => isToolOf(wanted, server)
      const [tool] = await chosen(tenant, isWanted, mayBeOf)
      if (tool) return tool
      const server = tenant.tools.find((one) => one.type === 'mcp' && mayBeOf(one.name))
      if (server?.type !== 'mcp') return null
      const fault = await lists.faultOf(server, tenant.tenant_id)
      if (fault) throw refusedBy(server.name, fault)
      return (await chosen(tenant, isWanted, mayBeOf))[0] ?? null
    },
    close: lists.close,
  }
}

function refusedBy(server: string, fault: Error): AppError {
  const isForbidden = fault instanceof OutboundFault && fault.kind === 'forbidden'
  const why = `The tools of ${server} are not known: ${fault.message}`
  return new AppError(isForbidden ? 'invalid_request' : 'upstream_failed', why, { cause: fault })
}
