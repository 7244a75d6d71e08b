import { afterEach, beforeEach } from 'vitest'
import type { Database } from '../../src/platform/db/schema.ts'
import { openServer } from '../../src/platform/db/server.ts'
import type { TestDatabase } from './database.ts'
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts'

/** The database of a test file as a service sees it over a wire that the test can cut. On a server only. */
export type ProxiedDatabase = {
  readonly proxy: TcpProxy
  /** The address of the database behind the proxy. */
  readonly url: string
  /** A handle on it, for the service; the test's own handle goes past the proxy. */
  open(): Promise<Database>
}

/** A new wire for each test of the file: call `useDatabase` first, and this before whatever starts the service. */
export function useProxiedDatabase(test: TestDatabase): ProxiedDatabase {
  let proxy: TcpProxy | undefined
  const opened: Database[] = []
  const there = (): TcpProxy => {
    if (!proxy) throw new Error('the wire is there only while tests run')
    return proxy
  }
  beforeEach(async () => {
    const { hostname: host, port } = new URL(test.settings['DATABASE_URL'] ?? '')
    proxy = await startTcpProxy({ host, port: Number(port) })
  })
  afterEach(async () => {
    for (const database of opened.splice(0)) await database.close()
    await proxy?.close()
  })
  const url = () => {
    const address = new URL(test.settings['DATABASE_URL'] ?? '')
    address.hostname = '127.0.0.1'
    address.port = String(there().port)
    return address.href
  }
  return {
    get proxy() {
      return there()
    },
    get url() {
      return url()
    },
    async open() {
      const database = openServer({ url: url(), applicationName: 'parley behind a proxy' })
      opened.push(database)
      return database
    },
  }
}
