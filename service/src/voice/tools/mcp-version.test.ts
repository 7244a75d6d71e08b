import { beforeEach, describe, expect, it } from 'vitest'
import { type McpServerDouble, startMcpServer } from '../../../test/harness/mcp-server.ts'
import { until } from '../../../test/harness/wait.ts'
import { mcpTools } from './mcp-tools.fixture.ts'

let server: McpServerDouble
beforeEach(async () => {
  server = await startMcpServer()
  return () => server.close()
})
const tenantTools = () => mcpTools(server)

describe('the tools of a server, whatever version it speaks,', () => {
  it.each(['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'])(
    'are had in version %s, where it insists on that',
    async (version) => {
      server.version = version
      const { of, run } = tenantTools()
      expect(await of('orders')).toHaveLength(2)
      expect((await run({ id: 'a' })).status).not.toBe('error')
      expect(server.of('tools/call')[0]?.headers['mcp-protocol-version']).toBe(version)
    },
  )

  it('are had of one that knows no sessions, page by page, each request telling of itself', async () => {
    server.isSessionless = true
    server.pageSize = 1
    const { of, run, clock } = tenantTools()
    expect(await of('orders')).toHaveLength(2)
    expect(await run({ id: 'a' })).toMatchObject({ output: { result: 'It is on its way.' } })
    const [call] = server.of('tools/call')
    expect(call?.headers).toMatchObject({ 'mcp-method': 'tools/call', 'mcp-name': 'look_up' })
    const clientInfo = { name: 'parley', version: '1.2.3' }
    expect(call?.params).toMatchObject({ name: 'look_up', _meta: { 'io.modelcontextprotocol/clientInfo': clientInfo } })
    await clock.advance(5 * 60_000)
    await of('orders')
    await until(() => server.of('tools/list').length === 4, { what: 'the list that is asked for again' })
    expect(server.of('initialize')).toHaveLength(1)
  })

  it.each([
    [404, -32_601, 'Method not found'],
    [200, -32_601, 'Method not found: initialize'],
    [400, -32_020, 'Header mismatch'],
  ])('are had of one that knows no sessions and says so by %i and %i', async (status, code, message) => {
    Object.assign(server, { isSessionless: true, refusal: { status, error: { code, message } } })
    expect(await tenantTools().of('orders')).toHaveLength(2)
  })

  it.each([
    [400, -32_022, 'Unsupported protocol version'],
    [400, -32_602, 'Invalid params'],
    [500, -32_601, 'Method not found'],
  ])('are not asked for without a session of one that says %i and %i', async (status, code, message) => {
    Object.assign(server, { isSessionless: true, refusal: { status, error: { code, message } } })
    expect(await tenantTools().of('orders')).toEqual([])
    expect(server.of('tools/list')).toEqual([])
  })

  it('are called by names that are not plain text, too, of one that knows no sessions', async () => {
    server.isSessionless = true
    server.tools = [{ name: 'Grüße', inputSchema: { type: 'object' } }]
    const { of, run } = tenantTools()
    const [name] = await of('orders')
    await run({}, { name: name ?? '' })
    const given = `=?base64?${Buffer.from('Grüße').toString('base64')}?=`
    expect(server.of('tools/call')[0]?.headers['mcp-name']).toBe(given)
  })
})

describe('a tool of a server that speaks another version by now', () => {
  it.each([true, false])(
    'is called again, once, when the server begins sessions otherwise by now: none %s',
    async (isNone) => {
      server.isSessionless = !isNone
      const { run } = tenantTools()
      await run({ id: 'a' })
      server.isSessionless = isNone
      expect((await run({ id: 'b' })).output).toEqual({ result: 'It is on its way.' })
      expect([server.of('tools/call').length, server.of('initialize').length]).toEqual([3, 2])
    },
  )

  it('is called again, once, when the server speaks the version of before no more', async () => {
    const { run } = tenantTools()
    await run({ id: 'a' })
    const message = 'Bad Request: Unsupported protocol version: 2025-06-18'
    server.forget({ status: 400, body: JSON.stringify({ id: 'server-error', error: { code: -32_600, message } }) })
    expect((await run({ id: 'b' })).output).toEqual({ result: 'It is on its way.' })
    expect([server.of('tools/call').length, server.of('initialize').length]).toEqual([3, 2])
  })
})

describe('a tool of a server that knows no sessions', () => {
  it('has not been done where its server wants more of whoever calls it', async () => {
    server.isSessionless = true
    server.result = { resultType: 'input_required', inputRequests: {} }
    const { run } = tenantTools()
    expect(await run({ id: 'a' })).toEqual({
      output: { error: expect.stringContaining('wants more') },
      status: 'error',
    })
    server.result = { resultType: 'complete', content: [{ type: 'text', text: 'Yes.' }] }
    expect(await run({ id: 'a' })).toEqual({ output: { result: 'Yes.' } })
  })
})
