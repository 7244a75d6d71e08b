import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import type { Config } from '../../service/src/config.ts'
import { DEMO } from '../../service/src/demo.ts'
import { localAddress } from './addresses.ts'

/**
 * The commands that show and make the phone route by which the service knows who answers a number: without one a caller is
 * told that the number is not in service. They are for the shell, in the project's folder, on the service's machine. A database
 * server has no demo tenant: there TENANT and AGENT are to be replaced.
 */
export function routeCommands(config: Pick<Config, 'port' | 'adminKey' | 'database'>, phoneNumber: string): string[] {
  const isDemo = config.database.kind === 'embedded'
  const [tenant, agent] = isDemo ? [DEMO.tenantId, DEMO.agentKey] : ['TENANT', 'AGENT']
  const key = `-H "x-admin-key: ${keyInShell(config.adminKey)}"`
  const routes = `${localAddress(config)}/api/v1/admin/tenants/${tenant}/phone-routes`
  const body = JSON.stringify({ phone_number: phoneNumber, agent_key: agent })
  return [`curl -sS ${key} ${routes}`, `curl -sS ${key} -H 'content-type: application/json' ${routes} -d '${body}'`]
}

/** How a shell finds the key of the admin API: in `.env` where that has the one in use, else in the environment, which had it. */
function keyInShell(adminKey: string | null): string {
  const isInFile = parseEnv(settingsFile())['ADMIN_API_KEY'] === adminKey
  return isInFile ? "$(sed -n 's/^ADMIN_API_KEY=//p' .env)" : '$ADMIN_API_KEY'
}

function settingsFile(): string {
  try {
    return readFileSync('.env', 'utf8')
  } catch {
    return ''
  }
}
