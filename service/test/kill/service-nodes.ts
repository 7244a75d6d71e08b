import { randomBytes } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { type Program, startProgram } from '../harness/program.ts'

/** What all nodes of an installation share. */
export type Installation = {
  databaseUrl: string
  publicUrl: string
  carrierUrl: string
  modelUrl: string
  /** Where nodes have their folders. */
  folder: string
  /** Of all nodes, one after the other or at once; each has its own without it. */
  dataDir?: string
  /** Beside those that it has here. */
  settings?: Record<string, string>
  /** Told each process id. */
  own: (pid: number) => void
}

export const ACCOUNT = { accountSid: 'AC00000000000000000000000000000001', authToken: randomBytes(16).toString('hex') }
export const ADMIN_API_KEY = randomBytes(32).toString('hex')
const ENCRYPTION_KEY = randomBytes(32).toString('base64')

/** A node that listens. */
export type ServiceNode = { program: Program; address: string; host: string; port: number }

/** Starts one as its own process, with a data folder of its own. @throws Error with what it wrote when it does not start */
export async function startNode(installation: Installation): Promise<ServiceNode> {
  const program = startProgram(settingsOf(installation))
  installation.own(program.pid)
  const address = await program.listening()
  const { hostname: host, port } = new URL(address)
  return { program, address, host, port: Number(port) }
}

function settingsOf({
  databaseUrl,
  publicUrl,
  carrierUrl,
  modelUrl,
  folder,
  dataDir,
  settings,
}: Installation): Record<string, string> {
  return {
    HOST: '127.0.0.1',
    PUBLIC_URL: publicUrl,
    DATA_DIR: dataDir ?? mkdtempSync(join(folder, 'node-')),
    DATABASE_URL: databaseUrl,
    ENCRYPTION_KEY,
    ADMIN_API_KEY,
    OPENAI_API_KEY: 'simulated',
    OPENAI_REALTIME_URL: modelUrl,
    TELEPHONY_ACCOUNT_SID: ACCOUNT.accountSid,
    TELEPHONY_AUTH_TOKEN: ACCOUNT.authToken,
    TELEPHONY_API_BASE_URL: carrierUrl,
    ...settings,
  }
}
