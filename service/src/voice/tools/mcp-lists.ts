import { othersFirst, waitAtMost, withTimeout } from '../../kernel/clock.ts'
import { sha256 } from '../../kernel/seal.ts'
import type { Log } from '../../platform/log.ts'
import { OutboundFault } from '../../platform/outbound/fault.ts'
import { mcpToolName } from '../../tenancy/tenant-tools.ts'
import type { AskingTool } from './asking-tool.ts'
import type { AskDeps } from './http-tool.ts'
import { type McpListed, makeMcpClient, type RuntimeMcpServer } from './mcp-client.ts'
import { McpFault } from './mcp-message.ts'
import { checkFault, mcpTool, offerFault } from './mcp-tool.ts'

/** What the servers of tenants offer, as far as it is known. */
export type McpLists = {
  /**
   * The tools of a server, those that its `tools` name. A list is 5 minutes good and served as it was while it is asked for
   * again; one that is not known is waited for, 2 s at most, and then there is none yet. Never rejects.
   */
  toolsOf(server: RuntimeMcpServer, tenantId: string): Promise<AskingTool[]>
  /** Asks a server for its tools at once, however new its list is, and tells why they are not known; null: they are. Never rejects. */
  faultOf(server: RuntimeMcpServer, tenantId: string): Promise<Error | null>
  /** Gives up what is on its way, and waits for that. */
  close(): Promise<void>
}

type Deps = AskDeps & { log: Pick<Log, 'warn'>; version: string }
type Entry = {
  tools: AskingTool[]
  staleAtMs: number
  /** Why the list that was asked for last did not come. */
  fault: Error | null
  asking: Promise<void> | null
  client: ReturnType<typeof makeMcpClient>
  /** The tools and schemas of its last list that the log told of. */
  said: Set<string>
}

const FRESH_MS = 5 * 60_000
/** A server that failed is left alone for so long. */
const RETRY_MS = 30_000
const WAIT_MS = 2_000
/** As long as a tool has that is tried. */
const FAULT_WAIT_MS = 10_000
/** Of one server. */
const MAX_TOOLS = 100

export function makeMcpLists(deps: Deps): McpLists {
  const { clock, log } = deps
  // By the member of the tenant's document: another version of the document is another server, and what nobody holds is gone.
  const entries = new WeakMap<RuntimeMcpServer, Entry>()
  const running = new Set<Promise<void>>()
  const closing = new AbortController()

  function entryOf(server: RuntimeMcpServer): Entry {
    const known = entries.get(server)
    if (known) return known
    const client = makeMcpClient({ ...deps, stopping: closing.signal }, server)
    const entry: Entry = {
      tools: [],
      staleAtMs: clock.monotonicMs(),
      fault: null,
      asking: null,
      client,
      said: new Set(),
    }
    entries.set(server, entry)
    return entry
  }

  async function renew(entry: Entry, server: RuntimeMcpServer, tenantId: string): Promise<void> {
    try {
      const listed = await entry.client.list(closing.signal)
      const { tools, faults } = await offered(entry, server, listed)
      entry.tools = tools
      tell(entry, faults, { tenant_id: tenantId, server: server.name })
      entry.staleAtMs = clock.monotonicMs() + FRESH_MS
      entry.fault = null
    } catch (err) {
      entry.staleAtMs = clock.monotonicMs() + RETRY_MS
      entry.fault = err as Error
      log.warn(
        { err, reason: reasonOf(err), tenant_id: tenantId, server: server.name },
        'the tools of a server are not known',
      )
    }
  }

  /** Each once, for as long as the server lists it so. */
  function tell(entry: Entry, faults: SchemaFault[], of: { tenant_id: string; server: string }): void {
    for (const { key, tool, reason, isOffered } of faults) {
      if (entry.said.has(key)) continue
      const what = { ...of, tool, reason }
      if (isOffered)
        log.warn(what, 'a tool of a server has a schema that is too much: its arguments are not checked here')
      else log.warn(what, 'a tool of a server has a schema that no model can be told: it is not offered')
    }
    entry.said = new Set(faults.map(({ key }) => key))
  }

  function asked(entry: Entry, server: RuntimeMcpServer, tenantId: string): Promise<void> {
    if (entry.asking) return entry.asking
    const asking = renew(entry, server, tenantId).finally(() => {
      entry.asking = null
      running.delete(asking)
    })
    entry.asking = asking
    running.add(asking)
    return asking
  }

  return {
    async toolsOf(server, tenantId) {
      const entry = entryOf(server)
      if (clock.monotonicMs() < entry.staleAtMs || closing.signal.aborted) return entry.tools
      const renewed = asked(entry, server, tenantId)
      // What is late goes on for whoever comes next.
      if (entry.tools.length === 0) await waitAtMost(clock, renewed, WAIT_MS)
      return entry.tools
    },
    async faultOf(server, tenantId) {
      const entry = entryOf(server)
      if (closing.signal.aborted) return entry.fault
      const late = () => new OutboundFault('timeout', 'It has not told them in time.')
      const fault = await withTimeout(clock, asked(entry, server, tenantId), FAULT_WAIT_MS, late).catch(
        (err: Error) => err,
      )
      return fault ?? entry.fault
    },
    async close() {
      closing.abort()
      await Promise.all(running)
    },
  }
}

/** Why a schema is not used as it is. `key` is of the tool and its schema. */
type SchemaFault = { key: string; tool: string; reason: string; isOffered: boolean }
type Offered = { tools: AskingTool[]; faults: SchemaFault[] }

async function offered({ client }: Entry, server: RuntimeMcpServer, listed: McpListed[]): Promise<Offered> {
  const wanted = server.tools
  const faults: SchemaFault[] = []
  const tools = new Map<string, AskingTool>()
  for (const tool of listed) {
    if (tools.size === MAX_TOOLS) break
    const name = mcpToolName(server.name, tool.name)
    // Cut or rewritten, two may have come to the same name: the first has it.
    const isWanted = (wanted === null || wanted.includes(tool.name)) && !tools.has(name)
    if (!isWanted) continue
    await othersFirst()
    const refused = offerFault(tool)
    const heavy = refused === null ? checkFault(tool) : null
    const reason = refused ?? heavy
    if (reason !== null) faults.push({ key: keyOf(name, tool), tool: name, reason, isOffered: refused === null })
    if (refused !== null) continue
    tools.set(name, mcpTool(client, tool, { name, isAsync: server.async, isHeavy: heavy !== null }))
  }
  return { tools: [...tools.values()], faults }
}

/** What a tenant may read of it: sentences of ours. */
function reasonOf(err: unknown): string | undefined {
  return err instanceof McpFault || err instanceof OutboundFault ? err.message : undefined
}

function keyOf(name: string, { inputSchema }: McpListed): string {
  return `${name} ${sha256(JSON.stringify(inputSchema)).toString('base64')}`
}
