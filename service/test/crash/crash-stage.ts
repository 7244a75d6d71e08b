import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'
import { killProgram } from '../harness/program.ts'
import { type CarrierProcess, startCarrierProcess } from '../kill/carrier.ts'
import { type Front, startFront } from '../kill/front.ts'
import { makeTenant } from '../kill/service-api.ts'
import { ACCOUNT, type Installation, type ServiceNode, startNode } from '../kill/service-nodes.ts'
import { connectTo, type TestServer } from '../kill/test-database.ts'
import { makeRolloutAgent, type RolloutAgent } from './crash-rollouts.ts'
import { type HttpProxy, startHttpProxy } from './http-proxy.ts'
import { KillTrap } from './moments.ts'
import { type PgProxy, startPgProxy } from './pg-proxy.ts'
import { startWebhookReceiver, type WebhookReceiver } from './webhook-receiver.ts'

/** The service with everything around it, and a trap on all that passes between them. */
export type Stage = {
  trap: KillTrap
  carrier: CarrierProcess
  /** Between the service and the carrier. */
  carrierProxy: HttpProxy
  /** Between a client and the service. */
  clientProxy: HttpProxy
  /** Between the service and its database. */
  pgProxy: PgProxy
  /** Where the tenant's events go. */
  receiver: WebhookReceiver
  front: Front
  database: pg.Client
  /** The service that runs now, or ran last. */
  node: ServiceNode
  /** The process of it, which may not listen yet. */
  pid: number
  /** How it is started. */
  installation: Installation & { dataDir: string }
  token: string
  rolloutAgent: RolloutAgent
  /** Kills the service as it is, also in the middle of its start. */
  kill(): void
  /** Holds the next start up for so long. */
  delayStart(delayMs: number): void
  /** Has the service run with these settings beside its own, and starts it anew where it does not. */
  runWith(settings: Record<string, string>): Promise<void>
  /** Starts the service again after its kill; resolves with how long that took, in ms. @throws Error when it ends instead */
  restart(): Promise<number>
  close(): Promise<void>
}

/** What a stage stands on. */
export type StageServer = Pick<TestServer, 'makeDatabase'> & {
  folder: Pick<TestServer['folder'], 'path' | 'ownProcess'>
}

/** Starts all of it on a database of its own. */
export async function startStage(server: StageServer, seed: number): Promise<Stage> {
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
  const receiver = await startWebhookReceiver(trap)
  const usual = {
    // A node that is told to stop hands its calls over at once. Every start is of the same program: it is compiled once.
    ...{ DRAIN_SECONDS: '0', NODE_COMPILE_CACHE: join(server.folder.path, 'compiled') },
    OUTBOUND_ALLOW_PRIVATE_NETWORKS: 'true',
  }
  const installation = {
    databaseUrl: pgProxy.url,
    publicUrl: front.url,
    carrierUrl: carrierProxy.url,
    modelUrl: carrier.modelUrl,
    folder: server.folder.path,
    // What a dead node leaves on the disk is the next one's to put in order.
    dataDir: mkdtempSync(join(server.folder.path, 'stage-')),
    settings: usual as Record<string, string>,
    own,
  }
  let delayNextMs = 0
  const started = (pid: number): void => {
    stage.pid = pid
    own(pid)
    if (delayNextMs === 0) return
    process.kill(pid, 'SIGSTOP')
    setTimeout(() => process.kill(pid, 'SIGCONT'), delayNextMs)
    delayNextMs = 0
  }
  const stage: Stage = {
    ...{
      trap,
      carrier,
      carrierProxy,
      clientProxy,
      pgProxy,
      receiver,
      front,
      database,
      installation,
      token: '',
      pid: 0,
    },
    rolloutAgent: { id: '', versionIds: ['', ''] },
    node: { program: null as never, address: '', host: '', port: 0 },
    kill: () => process.kill(stage.pid, 'SIGKILL'),
    delayStart(delayMs) {
      delayNextMs = delayMs
    },
    async runWith(settings) {
      const wanted = { ...usual, ...settings }
      if (JSON.stringify(wanted) === JSON.stringify(installation.settings)) return
      installation.settings = wanted
      await killProgram(stage.pid)
      await stage.restart()
    },
    async restart() {
      const startedMs = performance.now()
      front.remove(stage.node)
      stage.node = await startNode({ ...installation, own: started })
      front.add(stage.node)
      clientProxy.pointAt(stage.node.address)
      return performance.now() - startedMs
    },
    close: () => closeAll(stage),
  }
  try {
    await stage.restart()
    stage.token = await makeTenant(stage.node.address)
    stage.rolloutAgent = await makeRolloutAgent(stage.node.address)
    return stage
  } catch (error) {
    await closeAll(stage)
    throw error
  }
}

async function closeAll(stage: Stage): Promise<void> {
  stage.trap.disarm()
  await killProgram(stage.pid)
  await stage.carrier.stop()
  const { front, pgProxy, carrierProxy, clientProxy, receiver } = stage
  await Promise.all([front, pgProxy, carrierProxy, clientProxy, receiver].map((each) => each.close()))
  await stage.database.end()
}
