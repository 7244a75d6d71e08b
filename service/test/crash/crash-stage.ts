import type pg from 'pg'
import { type CarrierProcess, startCarrierProcess } from '../kill/carrier.ts'
import { type Front, startFront } from '../kill/front.ts'
import { makeTenant } from '../kill/service-api.ts'
import { ACCOUNT, type Installation, type ServiceNode, startNode } from '../kill/service-nodes.ts'
import { connectTo, type TestServer } from '../kill/test-database.ts'
import { type HttpProxy, startHttpProxy } from './http-proxy.ts'
import { KillTrap } from './moments.ts'
import { type PgProxy, startPgProxy } from './pg-proxy.ts'

/** The service with everything around it, and a trap on all that passes between them. */
export type Stage = {
  trap: KillTrap
  carrier: CarrierProcess
  /** Between the service and the carrier. */
  carrierProxy: HttpProxy
  /** Between a client and the service. */
  clientProxy: HttpProxy
  front: Front
  database: pg.Client
  /** The service that runs now. */
  node: ServiceNode
  /** How it is started. */
  installation: Installation
  token: string
  /** Starts the service again after its kill; resolves with how long that took, in ms. */
  restart(): Promise<number>
  close(): Promise<void>
}

/** Starts all of it on a database of its own. */
export async function startStage(server: TestServer, seed: number): Promise<Stage> {
  const own = server.folder.ownProcess
  const [trap, carrier, front] = [
    new KillTrap(),
    await startCarrierProcess({ ...ACCOUNT, seed, faults: {} }, own),
    await startFront(),
  ]
  const databaseUrl = await server.makeDatabase()
  const [pgProxy, database] = [await startPgProxy(databaseUrl, trap), await connectTo(databaseUrl)]
  const [carrierProxy, clientProxy] = [await startHttpProxy('carrier', trap), await startHttpProxy('client', trap)]
  carrierProxy.pointAt(carrier.carrierUrl)
  const installation: Installation = {
    databaseUrl: pgProxy.url,
    publicUrl: front.url,
    carrierUrl: carrierProxy.url,
    modelUrl: carrier.modelUrl,
    folder: server.folder.path,
    own,
  }
  const start = async (): Promise<ServiceNode> => {
    const node = await startNode(installation)
    front.add(node)
    clientProxy.pointAt(node.address)
    return node
  }
  const node = await start()
  const stage: Stage = {
    ...{ trap, carrier, carrierProxy, clientProxy, front, database, node, installation, token: '' },
    async restart() {
      const startedMs = performance.now()
      stage.node = await start()
      return performance.now() - startedMs
    },
    close: () => closeAll({ ...stage, pgProxy }),
  }
  stage.token = await makeTenant(node.address)
  return stage
}

async function closeAll(stage: Stage & { pgProxy: PgProxy }): Promise<void> {
  stage.trap.disarm()
  process.kill(stage.node.program.pid, 'SIGKILL')
  await stage.node.program.end()
  await stage.carrier.stop()
  await Promise.all([stage.front, stage.pgProxy, stage.carrierProxy, stage.clientProxy].map((each) => each.close()))
  await stage.database.end()
}
