/** The load as a process of its own: takes its orders from the process that started it and ends with it. */
import { readFileSync } from 'node:fs'
import { Load, type LoadPlan } from './load.ts'
import type { FromLoad, ToLoad } from './load-messages.ts'

function tell(message: FromLoad): void {
  process.send?.(message)
}

async function run(plan: LoadPlan): Promise<void> {
  const report = await load.run(plan, (state) => tell({ kind: 'window', state }))
  tell({ kind: 'report', report })
}

process.once('disconnect', () => process.exit(0))
// Whoever started it may have died before anybody listened.
if (!process.connected) process.exit(0)

const [keyFile, certFile] = process.argv.slice(2)
const tls =
  keyFile && certFile ? { key: readFileSync(keyFile, 'utf8'), cert: readFileSync(certFile, 'utf8') } : undefined
const load = await Load.listen(tls)
process.on('message', ({ plan }: ToLoad) => void run(plan))
tell({ kind: 'listening', providers: load.providers })
