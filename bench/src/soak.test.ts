import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { type Holdings, holdingsOf } from './holdings.ts'
import { parseSoakOptions } from './soak-options.ts'
import { soakFaults } from './soak-verdict.ts'
import { Tally } from './tally.ts'

const MIB = 1_048_576
const BEFORE: Holdings = { heapBytes: 40 * MIB, handles: { TCPServerWrap: 1, Timeout: 2 }, poolConnections: 3 }

function faultsAfter(changed: Partial<Holdings>): string[] {
  const figures = {
    restBefore: BEFORE,
    loadedBefore: BEFORE,
    loadedAfter: BEFORE,
    restAfter: { ...BEFORE, ...changed },
  }
  return soakFaults(figures, new Tally().report())
}

describe('a soak', () => {
  it('is passed by a heap up to 5 MiB larger and the same handles', () => {
    expect(faultsAfter({ heapBytes: 45 * MIB, poolConnections: 2 })).toEqual([])
  })

  it.each<[string, Partial<Holdings>, string]>([
    ['a heap over 5 MiB larger', { heapBytes: 45 * MIB + 1 }, 'the heap without calls grew by 5.0 MiB, over 5'],
    ['a handle more', { handles: { TCPServerWrap: 1, Timeout: 3 } }, 'more handles without calls: Timeout +1'],
    ['a handle fewer', { handles: { TCPServerWrap: 1, Timeout: 1 } }, 'fewer handles without calls: Timeout -1'],
    [
      'a new kind',
      { handles: { ...BEFORE.handles, TCPSocketWrap: 1 } },
      'more handles without calls: TCPSocketWrap +1',
    ],
  ])('is failed by %s', (_what, changed, fault) => {
    expect(faultsAfter(changed)).toEqual([fault])
  })

  it('is failed by a call that went wrong', () => {
    const tally = new Tally()
    tally.callDropped('somehow')
    const figures = { restBefore: BEFORE, loadedBefore: BEFORE, loadedAfter: BEFORE, restAfter: BEFORE }
    expect(soakFaults(figures, tally.report())).toEqual(['calls dropped: 1'])
  })

  it.each([['--calls=0'], ['--calls=1.5'], ['--minutes=0'], ['--minutes=x']])('refuses %s', (argument) => {
    expect(() => parseSoakOptions([argument])).toThrow(argument.slice(0, argument.indexOf('=')))
  })
})

async function listening(): Promise<Server> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

describe('the diagnostics', () => {
  it('tell what the process holds, keep it alive no longer, and count what it opens', async () => {
    const program = 'const s = require("node:net").createServer().listen(0); setTimeout(() => s.close(), 2_000)'
    const diagnostics = fileURLToPath(new URL('./diagnostics.ts', import.meta.url))
    const child = spawn(process.execPath, ['--import', diagnostics, '-e', program], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    const { heapBytes, handles } = await holdingsOf(child)
    expect(heapBytes).toBeGreaterThan(MIB)
    expect(handles['TCPServerWrap']).toBe(1)
    expect(await once(child, 'exit')).toEqual([0, null])
  })

  it('count connections to the database apart from other sockets', async () => {
    const servers = await Promise.all([listening(), listening()])
    const [database, other] = servers.map((server) => (server.address() as AddressInfo).port)
    const program = `const { connect } = require("node:net")
      const connected = (port) => new Promise((done) => connect(port, "127.0.0.1", done))
      Promise.all([${database}, ${database}, ${other}].map(connected)).then(() => process.send("connected"))`
    const diagnostics = fileURLToPath(new URL('./diagnostics.ts', import.meta.url))
    const child = spawn(process.execPath, ['--import', diagnostics, '-e', program], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      env: { ...process.env, DATABASE_URL: `postgresql://parley@127.0.0.1:${database}/parley` },
    })
    await once(child, 'message')
    const { handles, poolConnections } = await holdingsOf(child)
    child.kill()
    for (const server of servers) server.close()
    expect([poolConnections, handles['TCPSocketWrap']]).toEqual([2, 1])
  })
})
