import { beforeEach, describe, expect, it } from 'vitest'
import { type McpServerDouble, startMcpServer } from '../../../test/harness/mcp-server.ts'
import { until } from '../../../test/harness/wait.ts'
import { type McpToolsOptions, mcpTools } from './mcp-tools.fixture.ts'

let server: McpServerDouble
beforeEach(async () => {
  server = await startMcpServer()
  return () => server.close()
})
const tenantTools = (options: McpToolsOptions = {}) => mcpTools(server, options)

describe('the tools of a server', () => {
  it('are known by its name before their own, all by its own name, and asked for once', async () => {
    const { of, made, tenant } = tenantTools()
    expect(await of('orders')).toEqual(['orders__look_up', 'orders__pay_bill'])
    expect(await of('orders__pay_bill')).toEqual(['orders__pay_bill'])
    expect(await of('end_call', 'order')).toEqual([])
    expect(server.asked.map(({ method }) => method)).toEqual(['initialize', 'notifications/initialized', 'tools/list'])
    const [tool] = await made.of(tenant, ['orders'])
    expect(tool?.declaration).toMatchObject({ description: 'Looks an order up.', parameters: { type: 'object' } })
    expect(tool?.declaration.parameters).not.toHaveProperty('$schema')
  })

  it('may say that they take nothing in a way that is no JSON Schema', async () => {
    server.tools = [{ name: 'look_up', inputSchema: { type: 'object', properties: null } }]
    const { of, run } = tenantTools()
    expect(await of('orders')).toEqual(['orders__look_up'])
    expect((await run({})).status).not.toBe('error')
  })

  it('are offered with schemas that are too much to check, which is left to the server and said once', async () => {
    const oneOf = Array.from({ length: 200 }, (_, at) => ({ const: at }))
    server.tools = [
      { name: 'look_up', inputSchema: { type: 'object', oneOf } },
      { name: 'pay_bill', inputSchema: { type: 'object', description: 'x'.repeat(40_000) } },
      { name: 'other', inputSchema: { type: 'object' } },
    ]
    const { of, made, run, tenant, clock, warned } = tenantTools()
    expect(await of('orders')).toEqual(['orders__look_up', 'orders__other'])
    expect((await made.of(tenant, ['orders']))[0]?.declaration.parameters).toEqual({ type: 'object', oneOf })
    expect((await run({ any: 1 })).status).not.toBe('error')
    await expect(run('text')).rejects.toMatchObject({ message: 'arguments must be an object' })
    const told = [
      {
        tenant_id: 'acme',
        server: 'orders',
        tool: 'orders__look_up',
        reason: expect.stringMatching(/100 alternatives/),
      },
      { tenant_id: 'acme', server: 'orders', tool: 'orders__pay_bill', reason: expect.stringMatching(/32768 bytes/) },
    ]
    expect(warned).toEqual(told)

    const listed = server.of('tools/list').length
    await clock.advance(5 * 60_000)
    server.tools[0] = { name: 'look_up', inputSchema: { type: 'object', oneOf: oneOf.slice(1) } }
    await of('orders')
    await until(() => server.of('tools/list').length > listed, { what: 'the list that is asked for again' })
    await until(() => warned.length > told.length, { what: 'the line of the other schema' })
    expect(warned).toEqual([...told, told[0]])
  })

  it('are not asked for while nobody may use them', async () => {
    const { of } = tenantTools()
    await of('end_call')
    expect(server.asked).toEqual([])
  })

  it('are those that the document names', async () => {
    expect(await tenantTools({ tools: ['pay.bill', 'other'] }).of('orders')).toEqual(['orders__pay_bill'])
  })

  it('are read page by page', async () => {
    server.pageSize = 1
    expect(await tenantTools().of('orders')).toHaveLength(2)
    expect(server.of('tools/list')).toHaveLength(2)
  })

  it('are served as they were while they are asked for again', async () => {
    const { of, clock } = tenantTools()
    await of('orders')
    server.tools = [{ name: 'other', inputSchema: { type: 'object' } }]
    await clock.advance(5 * 60_000)
    expect(await of('orders')).toHaveLength(2)
    await until(async () => (await of('orders'))[0] === 'orders__other', { what: 'the new list' })
    expect(server.of('initialize')).toHaveLength(1)
  })

  it('are asked for in a new session once the server has refused the old one, whatever it says', async () => {
    const { of, run, clock } = tenantTools()
    await of('orders')
    server.forget({ status: 400, body: 'no' })
    await clock.advance(5 * 60_000)
    await of('orders')
    await until(() => server.of('tools/list').length === 2, { what: 'the refusal' })
    await until(async () => (await run({ id: 'a' })).status !== 'error', { what: 'a call in a new session' })
    expect(server.of('initialize')).toHaveLength(2)
  })

  it('are asked for in the same session again once the server was busy', async () => {
    const { of, run, clock } = tenantTools()
    await of('orders')
    server.forget({ status: 429, body: 'busy' })
    await clock.advance(5 * 60_000)
    await of('orders')
    await until(() => server.of('tools/list').length === 2, { what: 'the refusal' })
    expect((await run({ id: 'a' })).status).toBe('error')
    expect(server.of('initialize')).toHaveLength(1)
  })

  it('are done without when it fails, and it is left alone for a while', async () => {
    const { of, clock, warned } = tenantTools()
    server.version = '1999-01-01'
    expect(await of('orders')).toEqual([])
    expect(await of('orders')).toEqual([])
    expect([server.of('initialize').length, warned.length]).toEqual([1, 1])
    server.version = null
    await clock.advance(30_000)
    expect(await of('orders')).toHaveLength(2)
  })

  it('are asked for at once where one of them is wanted by name, which is told why there are none', async () => {
    const { of, made, tenant, warned } = tenantTools()
    server.version = '1999-01-01'
    expect(await of('orders')).toEqual([])
    const reason = 'The server speaks no version of the protocol that this service does.'
    expect(warned).toMatchObject([{ server: 'orders', reason }])
    const wanted = made.find(tenant, 'orders__look_up')
    await expect(wanted).rejects.toMatchObject({
      ...{ code: 'upstream_failed', message: `The tools of orders are not known: ${reason}` },
    })
    server.version = null
    expect((await made.find(tenant, 'orders__look_up'))?.declaration.name).toBe('orders__look_up')
    expect(await made.find(tenant, 'orders__other')).toBe(null)
    expect(await made.find(tenant, 'other')).toBe(null)
  })

  it('are asked for anew where one is wanted by name that they had not, as one that was just added', async () => {
    const { of, made, tenant } = tenantTools()
    expect(await of('orders')).toHaveLength(2)
    server.tools = [...server.tools, { name: 'other', inputSchema: { type: 'object' } }]
    expect((await made.find(tenant, 'orders__other'))?.declaration.name).toBe('orders__other')
    await made.find(tenant, 'orders__look_up')
    expect(server.of('tools/list')).toHaveLength(2)
    expect(await of('orders')).toHaveLength(3)
  })

  it('are waited for so long, and there are none until they come', async () => {
    const { of, clock } = tenantTools()
    server.isSilent = true
    const names = of('orders')
    await until(() => server.of('initialize').length > 0, { what: 'the question' })
    await clock.advance(2_000)
    expect(await names).toEqual([])
  })

  it('are those whose arguments can be checked in bounded time', async () => {
    const twice = (below: number) => ({ allOf: [{ $ref: `#/$defs/a${below}` }, { $ref: `#/$defs/a${below}` }] })
    const floors = Array.from({ length: 40 }, (_, at) => [`a${at}`, twice(at + 1)])
    const $defs = { ...Object.fromEntries(floors), a40: { minProperties: 1 } }
    server.tools = [
      { name: 'tower', inputSchema: { type: 'object', $ref: '#/$defs/a0', $defs } },
      { name: 'tree', inputSchema: { type: 'object', properties: { child: { $ref: '#' } } } },
    ]
    expect(await tenantTools().of('orders')).toEqual(['orders__tree'])
  })

  it('of our own network are not asked for', async () => {
    const { of, made, tenant } = tenantTools({ allowPrivate: false })
    expect(await of('orders')).toEqual([])
    await expect(made.find(tenant, 'orders__look_up')).rejects.toMatchObject({ code: 'invalid_request' })
    expect(server.asked).toEqual([])
  })
})

describe('a tool of a server', () => {
  it.each(['json', 'events', 'open events'] as const)('is called, and answers as %s', async (as) => {
    const { run } = tenantTools()
    server.as = as
    expect(await run({ id: 'a' })).toEqual({ output: { result: 'It is on its way.' } })
    const [called] = server.of('tools/call')
    expect(called?.params).toEqual({ name: 'look_up', arguments: { id: 'a' } })
    expect(called?.headers).toMatchObject({ 'mcp-session-id': 's1', 'mcp-protocol-version': '2025-06-18' })
  })

  it('is given nothing that does not fit; patterns are its own to check', async () => {
    const { run } = tenantTools()
    await expect(run({})).rejects.toMatchObject({ message: 'id is required' })
    await run({ id: `${'a'.repeat(40)}!` })
    expect(server.of('tools/call')).toHaveLength(1)
  })

  it.each([
    ['another document', { properties: { id: { $ref: 'https://example.com/order.json' } } }],
    ['what there is not', { properties: { id: { $ref: '#/$defs/none' } } }],
    ['a type that there is not', { properties: { id: { type: 'str' } } }],
    [
      'itself by its address',
      { $id: 'https://example.com/a', properties: { id: { $ref: 'a#/$defs/id' } }, $defs: { id: {} } },
    ],
  ])('is called, and left to check its arguments itself, where its schema refers to %s', async (_what, schema) => {
    const { run } = tenantTools()
    server.tools = [{ name: 'look_up', inputSchema: { type: 'object', ...schema } }]
    expect((await run({ id: 'a' })).output).toEqual({ result: 'It is on its way.' })
  })

  it('is checked at once, whatever its schema wants', async () => {
    const { run, made, tenant } = tenantTools()
    server.tools = [{ name: 'look_up', inputSchema: { type: 'object', $async: true, required: ['id'] } }]
    await expect(run({})).rejects.toMatchObject({ message: 'id is required' })
    const [tool] = await made.of(tenant, ['orders'])
    expect(tool?.declaration.parameters).toEqual({ type: 'object', required: ['id'] })
  })

  const NO_SESSION = '{"jsonrpc":"2.0","error":{"code":-32000,"message":"No valid session ID provided"},"id":null}'

  it.each([[{ status: 404, body: '' }], [{ status: 400, body: NO_SESSION }]])(
    'is called in a new session when the server has forgotten the old one, and once: %j',
    async (by) => {
      const { run } = tenantTools()
      await run({ id: 'a' })
      server.forget(by)
      expect((await run({ id: 'b' })).output).toEqual({ result: 'It is on its way.' })
      expect(server.of('tools/call').map(({ headers }) => headers['mcp-session-id'])).toEqual(['s1', 's1', 's2'])
    },
  )

  it.each(['no', '{"id":null,"error":{"message":"no"}}', '{"id":4,"error":{"message":"The session is over."}}'])(
    'is not called again for a 400 that says %s',
    async (body) => {
      const { run } = tenantTools()
      await run({ id: 'a' })
      server.result = { status: 400, body }
      expect(await run({ id: 'b' })).toMatchObject({ status: 'error' })
      expect([server.of('tools/call').length, server.of('initialize').length]).toEqual([2, 1])
    },
  )

  it('waits for a session that somebody else has begun, who has hung up meanwhile', async () => {
    const { run, of } = tenantTools()
    await of('orders')
    server.forget()
    server.isHeld = true
    const hungUp = new AbortController()
    const [first, second] = [run({ id: 'a' }, { signal: hungUp.signal }), run({ id: 'b' })]
    await until(() => server.of('initialize').length === 2, { what: 'the second session to be begun' })
    hungUp.abort()
    expect(await first).toMatchObject({ status: 'error' })
    server.isHeld = false
    expect(await second).toEqual({ output: { result: 'It is on its way.' } })
    expect(server.of('initialize')).toHaveLength(2)
  })

  it.each([
    [{ structuredContent: { eta: 3 }, content: [] }, { output: { result: { eta: 3 } } }],
    [
      { content: [{ type: 'text', text: 'No.' }], isError: true },
      { output: { error: 'No.' }, status: 'error' },
    ],
    [{ content: [{ type: 'image', data: 'x' }] }, { output: { result: '(image)' } }],
    [
      {
        content: [
          { type: 'resource', resource: { uri: 'a:1', text: 'On its way.' } },
          { type: 'resource', resource: { uri: 'a:2', blob: 'x' } },
          { type: 'resource_link', name: 'Order 2', uri: 'https://example.com/2' },
        ],
      },
      { output: { result: 'On its way.\n(resource)\n(resource_link: Order 2 https://example.com/2)' } },
    ],
    [{ rpcError: 'Unknown order' }, { output: { error: 'Unknown order' }, status: 'error' }],
    [
      { status: 500, body: 'oops' },
      { output: { error: 'the address answered 500', body: 'oops' }, status: 'error' },
    ],
    [
      { status: 200, body: 'no protocol' },
      { output: { error: 'The server sent no answer of the protocol.' }, status: 'error' },
    ],
  ])('tells the model what it said: %j', async (result, told) => {
    const { run } = tenantTools()
    server.result = result
    expect(await run({ id: 'a' })).toEqual(told)
  })

  it('that breaks off fails, and is not called again', async () => {
    const { run } = tenantTools()
    server.result = 'reset'
    expect(await run({ id: 'a' })).toMatchObject({ status: 'error' })
    expect(server.of('tools/call')).toHaveLength(1)
  })

  it('whose answer is longer than is read was called, and says so', async () => {
    const { run } = tenantTools()
    server.result = { content: [{ type: 'text', text: 'x'.repeat(300_000) }] }
    const { output, status } = await run({ id: 'a' })
    expect([status, output['error']]).toEqual(['error', expect.stringMatching(/^The tool was called, .* too long/)])
  })

  it.each(['hang', 'drip'] as const)('that has not answered in time is given up: %s', async (behaviour) => {
    const { run, clock } = tenantTools()
    server.result = behaviour
    const result = run({ id: 'a' })
    await until(() => server.of('tools/call').length > 0, { what: 'the call' })
    await clock.advance(10_000)
    const error = expect.stringMatching(/not known whether it was done/)
    expect(await result).toMatchObject({ status: 'timeout', output: { error } })
  })

  it.each([
    ['in its text', [{ type: 'text', text: 'Three.' }], 'Three.'],
    ['nowhere else', [], '(an answer that is nested too deep to be told)'],
  ])('whose answer is nested very deep is told as it says it %s', async (_where, content, told) => {
    const { run } = tenantTools()
    const nested = `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`
    const result = `{"structuredContent":${nested},"content":${JSON.stringify(content)}}`
    server.result = { status: 200, body: `{"jsonrpc":"2.0","id":ID,"result":${result}}` }
    expect(await run({ id: 'a' })).toEqual({ output: { result: told } })
  })

  it('whose answer is long is cut, and stays whole JSON', async () => {
    const { run } = tenantTools()
    server.result = { content: [{ type: 'text', text: 'é'.repeat(50_000) }] }
    const { output } = await run({ id: 'a' })
    expect(Buffer.byteLength(JSON.stringify(output))).toBeLessThanOrEqual(8_000)
    expect(output).toMatchObject({ truncated: true })
  })
})
