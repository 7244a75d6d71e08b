import { ConfigError } from './config.ts'
import { AppError } from './kernel/errors.ts'

/** How listening fails on an address of another machine, and on a name that nobody or nobody now knows. */
const NOT_OUR_ADDRESS = new Set(['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN'])

/** By whatever name the one that met it goes: a folder, a database, a module that is to be read. */
const NO_FILE_LEFT = /\bE[MN]FILE\b/

/** What the operator has to mend, as plain lines; anything else is a fault of ours and keeps its stack. */
export function explain(error: unknown): string {
  const [code] = NO_FILE_LEFT.exec(said(error)) ?? []
  if (code === undefined) return said(error)
  const [whose, how] = code === 'ENFILE' ? ['this machine', 'sysctl fs.file-max'] : ['this process', 'ulimit -n']
  return `parley: ${whose} has as many files open as it may (${code}). Raise the limit (${how}): the service needs 1,024 at least.`
}

function said(error: unknown): string {
  if (error instanceof ConfigError) return error.faults.map((fault) => `parley: ${fault}`).join('\n')
  if (error instanceof AppError) return `parley: ${error.message}`
  const { code, stack, port } = error as NodeJS.ErrnoException & { port?: number }
  if (code === 'EADDRINUSE')
    return `parley: PORT ${port} is in use by another program. Stop it, or set PORT to another one.`
  if (code !== undefined && NOT_OUR_ADDRESS.has(code)) return 'parley: HOST is not an address of this machine.'
  if (code === 'EACCES') return `parley: ${(error as Error).message}. Check PORT and the rights on DATA_DIR.`
  return `parley: ${stack ?? String(error)}`
}
