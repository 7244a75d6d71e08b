import { describe, expect, it } from 'vitest'
import { othersTurns } from '../../test/harness/others-turns.ts'
import { toolFaults } from './tenant-tool-faults.ts'
import { HttpTool, McpServer, type TenantTool } from './tenant-tools.ts'

/** Each with a schema of its own, of so many rules below the first. */
function tools(count: number, rules: number, rule: unknown = { type: 'string' }): TenantTool[] {
  const properties = (at: number) =>
    Object.fromEntries(Array.from({ length: rules }, (_, i) => [`p${at}x${i}`, structuredClone(rule)]))
  return Array.from({ length: count }, (_, at) => ({
    ...{ type: 'http' as const, name: `tool_${at}`, url: 'https://api.example.com/' },
    parameters: { type: 'object', properties: properties(at) },
  }))
}

/** The same schema, its members in another order. */
function turned(tool: TenantTool): Record<string, unknown> {
  return tool.type === 'http' ? Object.fromEntries(Object.entries(tool.parameters ?? {}).toReversed()) : {}
}

async function faultsIn(sent: TenantTool[], stored: TenantTool[] = []): Promise<string[]> {
  return (await toolFaults(sent, stored)).flatMap(([pointer, message]) =>
    message === null ? [] : [`${pointer} ${message}`],
  )
}

describe('the schemas of the tools of a document', () => {
  it('are looked at one by one, and others have their turn between them', async () => {
    const { done, turns } = await othersTurns(() => faultsIn(tools(20, 10)))
    expect(done).toEqual([])
    expect(turns).toBeGreaterThanOrEqual(20)
  })

  it('are not looked at again where the document has them already, by whatever bounds they were taken', async () => {
    const heavy = tools(2, 450)
    const [first, second] = heavy.map((tool) => ({ ...tool, parameters: turned(tool) }))
    expect(await faultsIn(heavy)).toEqual([expect.stringMatching(/^\/0\/param/), expect.stringMatching(/^\/1\/param/)])
    expect(await faultsIn([...(second ? [second] : []), ...(first ? [first] : [])], heavy)).toEqual([])
    expect(await faultsIn(tools(3, 450), heavy)).toEqual([expect.stringMatching(/^\/2\/param.* more than 400 prop/)])
  })

  it('leave the less for new ones, and are never too much themselves', async () => {
    const stored = tools(26, 400)
    expect(await faultsIn(stored, stored)).toEqual([])
    expect(await faultsIn([...tools(27, 10).slice(26), ...stored], stored)).toEqual([
      expect.stringMatching(/^\/0\/parameters is too much: with tool_26 /),
    ])
  })

  it('may become less where they are too much already, and not more', async () => {
    const [stored, less, more] = [tools(26, 390), tools(26, 389), tools(26, 391)]
    expect(await faultsIn([...less.slice(0, 1), ...stored.slice(1)], stored)).toEqual([])
    expect(await faultsIn(less, stored)).toEqual([])
    expect(await faultsIn([...stored.slice(1), ...more.slice(0, 1)], stored)).toEqual([
      expect.stringMatching(/^\/25\/parameters is too much: with tool_0 /),
    ])
  })

  it.each([{ type: 'string' }, false])(
    'are refused from the tool on with which they are too much together: %j',
    async (rule) => {
      expect(await faultsIn(tools(24, 400, rule))).toEqual([])
      expect(await faultsIn(tools(26, 400, rule))).toEqual([
        expect.stringMatching(/^\/24\/parameters is too much: with tool_24 .* more than 10000 rules together/),
      ])
    },
  )
})

describe('the headers of a server', () => {
  it('are the same in every call: what stands between braces is no name, and they are not said to have any', async () => {
    const headers = { 'x-note': '{{night}}' }
    expect(await faultsIn([{ type: 'mcp', name: 'orders', url: 'https://mcp.example.com/', headers }])).toEqual([])
    const http = { type: 'http' as const, name: 'look_up', url: 'https://api.example.com/', headers }
    expect(await faultsIn([http])).toEqual([expect.stringContaining('/0/headers/x-note names {{night}}')])
    const said = [HttpTool, McpServer].map((schema) => JSON.stringify(schema.properties.headers).includes('{{'))
    expect(said).toEqual([true, false])
  })
})
