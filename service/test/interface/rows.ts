import { ADMIN_SESSION_ROWS, AGENT_ROWS, SWEEP_ROWS, TENANT_OPERATION_ROWS, TENANT_ROWS } from './admin-rows.ts'
import { CREDENTIAL_ROWS } from './credential-rows.ts'
import { EVENT_ROWS } from './event-rows.ts'
import { OPEN_ROWS } from './open-rows.ts'
import { RESOURCE_ROWS } from './resource-rows.ts'
import type { EndpointRow, Section } from './row.ts'
import { ERROR_ROWS, LIMIT_ROWS, STATE_ROWS, VERSION_ROWS } from './rule-rows.ts'
import { AUTOMATION_ROWS, CALL_ROWS, OPERATOR_ROWS, SESSION_ROWS, SOCKET_ROWS } from './runtime-rows.ts'

/** The whole interface, in the order in which `docs/interface.md` has it. */
export const SECTIONS: Section[] = [
  { title: 'Resources and their fields', rows: RESOURCE_ROWS },
  { title: 'States', rows: STATE_ROWS },
  { title: 'Endpoints: calls', rows: CALL_ROWS },
  { title: 'Endpoints: sessions', rows: SESSION_ROWS },
  { title: 'Endpoints: callbacks, queues, do not call', rows: OPERATOR_ROWS },
  { title: 'Endpoints: automation', rows: AUTOMATION_ROWS },
  { title: 'Endpoints: WebSockets', rows: SOCKET_ROWS },
  { title: 'Endpoints: intake, pages, probes', rows: OPEN_ROWS },
  { title: 'Administration: the installation', rows: ADMIN_SESSION_ROWS },
  { title: 'Administration: sweeps', rows: SWEEP_ROWS },
  { title: 'Administration: tenants', rows: TENANT_ROWS },
  { title: 'Administration: agents', rows: AGENT_ROWS },
  { title: 'Administration: queues and deliveries of a tenant', rows: TENANT_OPERATION_ROWS },
  { title: 'Credentials', rows: CREDENTIAL_ROWS },
  { title: 'Events', rows: EVENT_ROWS },
  { title: 'Errors', rows: ERROR_ROWS },
  { title: 'Limits', rows: LIMIT_ROWS },
  { title: 'Versioning', rows: VERSION_ROWS },
]

/** Every row. */
export const ROWS = SECTIONS.flatMap(({ rows }) => rows)

/** Those of an address. */
export const ENDPOINT_ROWS = ROWS.filter((row): row is EndpointRow => row.kind === 'endpoint')
