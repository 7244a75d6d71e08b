import { AGENT_KEYS, at, audited, ROUTE } from './administering.ts'
import type { Asking } from './asking.ts'
import { isoOf, type Model, type Op, type Predicted, type Row, refused, rowIn, tenantOf } from './model.ts'
import type { Answer, Json } from './world.ts'

const STRANGE = '00000000-0000-7000-8000-000000000000'

function someId({ draw, model, tenant }: Asking, what: 'routes' | 'keys' | 'users'): string {
  const others = Object.entries(model.tenants).flatMap(([name, of]) =>
    name === tenant ? [] : of[what].map(({ id }) => id),
  )
  // What the actors themselves need stands at the beginning.
  const own = tenantOf(model, tenant)
    [what].filter((row) => !isNeeded(row))
    .map(({ id }) => id)
  return draw.known(own, [
    STRANGE,
    ...others.filter(
      (id) => !Object.values(model.tenants).some((of) => of[what].some((row) => row.id === id && isNeeded(row))),
    ),
  ])
}

/** Keys and people by which the run itself acts. */
function isNeeded({ label, email }: Row): boolean {
  return label === 'test' || /^(viewer|operator|admin)@/.test(String(email))
}

const NUMBERS = ['+12025550140', '+12025550141', '+12025550142', '+442079460018']

const routeFields = {
  phone_number: { good: NUMBERS, bad: ['12025550140', '', null, '+1202555'], isNeeded: true },
  agent_key: { good: [...AGENT_KEYS, 'nobody'], bad: ['', null, 'a'.repeat(64)], isNeeded: true },
  label: { good: ['', 'Front'], bad: [null, 'x'.repeat(201)] },
  inbound_enabled: { good: [true, false], bad: [null, 'true'] },
  outbound_default: { good: [true, false], bad: [null, 1] },
}

/** What would keep a route from being written; null: nothing. */
function routeFault(
  model: Model,
  tenant: string,
  { body, except }: { body: Json; except: string | null },
): number | null {
  const own = tenantOf(model, tenant)
  if (!own.agents.some(({ agent_key }) => agent_key === body['agent_key'])) return 400
  const holder = Object.entries(model.tenants).find(
    ([name, { routes }]) => name !== tenant && routes.some(({ phone_number }) => phone_number === body['phone_number']),
  )
  if (holder || model.umbrella?.number === body['phone_number']) return 409
  return own.routes.some(({ id, phone_number }) => id !== except && phone_number === body['phone_number']) ? 409 : null
}

function takeDefault(model: Model, tenant: string, body: Json): void {
  if (body['outbound_default'] !== true) return
  for (const route of tenantOf(model, tenant).routes) {
    if (route['outbound_default'] === true) Object.assign(route, { outbound_default: false, updated_at: isoOf(model) })
  }
}

export function createRoute({ draw, tenant, actor }: Asking): Op {
  const { body, isSound } = draw.body(routeFields)
  return {
    ...{ route: `POST ${ROUTE}/phone-routes`, path: at(tenant, 'phone-routes'), body, tenant, actor },
    predict(model, answer) {
      const status = isSound ? routeFault(model, tenant, { body, except: null }) : 400
      if (actor.kind === 'person' && isSound && !heldBy(model, tenant, body)) return refused(403)
      if (status !== null) return refused(status)
      takeDefault(model, tenant, body)
      const { id } = rowIn(answer, 'phone_route')
      const now = isoOf(model)
      const route: Row = {
        id,
        tenant_id: tenant,
        label: '',
        inbound_enabled: true,
        outbound_default: false,
        ...body,
        created_at: now,
        updated_at: now,
      }
      tenantOf(model, tenant).routes.push(route)
      return { status: 200, row: ['phone_route', route], told: [audited('phone_route.created', id)] }
    },
  }
}

/** People name only numbers that the tenant has, unless the carrier is asked. */
function heldBy(model: Model, tenant: string, { phone_number: number }: Json): boolean {
  return tenantOf(model, tenant).routes.some(({ phone_number }) => phone_number === number)
}

export function replaceRoute(asking: Asking): Op {
  const { draw, tenant, actor } = asking
  const id = someId(asking, 'routes')
  const { body, isSound } = draw.body(routeFields)
  return {
    ...{ route: `PUT ${ROUTE}/phone-routes/:route_id`, path: at(tenant, `phone-routes/${id}`), body, tenant, actor },
    predict(model) {
      if (!isSound) return refused(400)
      const route = tenantOf(model, tenant).routes.find((each) => each.id === id)
      if (!route) return refused(404)
      if (actor.kind === 'person' && !heldBy(model, tenant, body)) return refused(403)
      const status = routeFault(model, tenant, { body, except: id })
      if (status !== null) return refused(status)
      takeDefault(model, tenant, body)
      Object.assign(route, {
        label: '',
        inbound_enabled: true,
        outbound_default: false,
        ...body,
        updated_at: isoOf(model),
      })
      return { status: 200, row: ['phone_route', route], told: [audited('phone_route.changed', id)] }
    },
  }
}

/** Takes the row out of the list; undefined where there is none. */
function takeOut(rows: Row[], id: string): Row | undefined {
  const index = rows.findIndex((each) => each.id === id)
  return index < 0 ? undefined : rows.splice(index, 1)[0]
}

export function deleteRoute(asking: Asking): Op {
  const { tenant, actor } = asking
  const id = someId(asking, 'routes')
  return {
    ...{ route: `DELETE ${ROUTE}/phone-routes/:route_id`, path: at(tenant, `phone-routes/${id}`), tenant, actor },
    predict(model) {
      const route = takeOut(tenantOf(model, tenant).routes, id)
      return route
        ? { status: 200, row: ['phone_route', route], told: [audited('phone_route.deleted', id)] }
        : refused(404)
    },
  }
}

export function createKey({ draw, tenant, actor }: Asking): Op {
  const { body, isSound } = draw.body({
    label: { good: ['CRM', 'ü'], bad: ['', ' ', null, 'x'.repeat(201)], isNeeded: true },
  })
  return {
    ...{ route: `POST ${ROUTE}/api-keys`, path: at(tenant, 'api-keys'), body, tenant, actor },
    predict(model, answer) {
      if (!isSound) return refused(400)
      const { api_key: key } = rowIn(answer, 'created') as unknown as { api_key: Row }
      const record = { ...key, label: body['label'], created_at: isoOf(model), last_used_at: null, revoked_at: null }
      tenantOf(model, tenant).keys.push(record)
      return { status: 200, told: [audited('api_key.created', key.id)] }
    },
  }
}

export function revokeKey(asking: Asking): Op {
  const { tenant, actor } = asking
  const id = someId(asking, 'keys')
  return {
    ...{ route: `DELETE ${ROUTE}/api-keys/:key_id`, path: at(tenant, `api-keys/${id}`), tenant, actor },
    predict(model) {
      const key = tenantOf(model, tenant).keys.find((each) => each.id === id)
      if (!key) return refused(404)
      if (key['revoked_at'] !== null) return { status: 200, row: ['api_key', key] }
      key['revoked_at'] = isoOf(model)
      return { status: 200, row: ['api_key', key], told: [audited('api_key.revoked', id)] }
    },
  }
}

const EMAILS = ['ann@x.example', 'Ann@X.example', 'bob@x.example', 'viewer@acme.example']
const userFields = (isNew: boolean) => ({
  email: { good: EMAILS, bad: ['ann', '', null, 'a@b', 'ann@x.example '], isNeeded: isNew },
  name: { good: ['Ann', 'ü'], bad: ['', null, 'x'.repeat(201)] },
  role: { good: ['viewer', 'operator', 'admin'], bad: ['owner', '', null], isNeeded: isNew },
})

/** Whether somebody else has the address. */
function isTaken(model: Model, email: unknown, except: string | null): boolean {
  const all = Object.values(model.tenants).flatMap(({ users }) => users)
  return all.some((user) => user.id !== except && user['email'] === String(email).toLowerCase())
}

export function createUser({ draw, tenant, actor }: Asking): Op {
  const { body, isSound } = draw.body(userFields(true))
  return {
    ...{ route: `POST ${ROUTE}/users`, path: at(tenant, 'users'), body, tenant, actor },
    predict(model, answer) {
      if (!isSound) return refused(400)
      if (isTaken(model, body['email'], null)) return refused(409)
      const { id } = rowIn(answer, 'user')
      const now = isoOf(model)
      const user: Row = {
        ...{
          id,
          tenant_id: tenant,
          email: String(body['email']).toLowerCase(),
          name: body['name'] ?? '',
          role: body['role'],
        },
        ...{ status: 'invited', last_login_at: null, created_at: now, updated_at: now },
      }
      tenantOf(model, tenant).users.push(user)
      return { status: 200, row: ['user', user], told: [audited('user.created', id)] }
    },
  }
}

export function changeUser(asking: Asking): Op {
  const { draw, tenant, actor } = asking
  const id = someId(asking, 'users')
  const { body, isSound } = draw.body({ ...userFields(false), invite: { good: [true], bad: [false, null] } })
  return {
    ...{ route: `PATCH ${ROUTE}/users/:user_id`, path: at(tenant, `users/${id}`), body, tenant, actor },
    predict(model) {
      if (!isSound || Object.keys(body).length === 0) return refused(400)
      const user = tenantOf(model, tenant).users.find((each) => each.id === id)
      if (!user) return refused(404)
      if ('email' in body && isTaken(model, body['email'], id)) return refused(409)
      const { invite: _invite, ...rest } = body
      Object.assign(user, rest, { updated_at: isoOf(model) })
      if ('email' in body) user['email'] = String(body['email']).toLowerCase()
      return { status: 200, row: ['user', user], told: [audited('user.changed', id)] }
    },
  }
}

export function deleteUser(asking: Asking): Op {
  const { tenant, actor } = asking
  const id = someId(asking, 'users')
  return {
    ...{ route: `DELETE ${ROUTE}/users/:user_id`, path: at(tenant, `users/${id}`), tenant, actor },
    predict(model) {
      const user = takeOut(tenantOf(model, tenant).users, id)
      return user ? { status: 200, row: ['user', user], told: [audited('user.deleted', id)] } : refused(404)
    },
  }
}

/** The tenant that comes and goes. */
const UMBRELLA = 'umbrella'

export function putTenant({ draw, model, actor }: Asking): Op {
  const { random } = draw
  const number = random.pick([null, ...NUMBERS])
  const telephony = number === null ? {} : { from_number: number }
  const { body, isSound } = draw.body({
    tenant_id: { good: [UMBRELLA], bad: ['other', '', null], isNeeded: true },
    telephony: { good: [telephony], bad: [{ from_number: '12' }, []] },
    name: { good: ['Umbrella', 'ü'], bad: [5] },
  })
  const tag = random.pick([null, null, '*', '"stale"', model.umbrella?.tag ?? null])
  const isNew = random.chance(0.2)
  const headers = { ...(tag !== null && { 'if-match': tag }), ...(isNew && { 'if-none-match': '*' }) }
  return {
    ...{ route: `PUT ${ROUTE}`, path: `/admin/tenants/${UMBRELLA}`, body, headers, tenant: UMBRELLA, actor },
    predict(later, answer) {
      if (!isSound) return refused(400)
      // What is left of one that is being deleted is in the way of a new one.
      if (answer.status === 409 && later.umbrella === null) return refused(409)
      return written(later, answer, { number: 'telephony' in body ? number : null, tag, isNew })
    },
  }
}

type Writing = { number: string | null; tag: string | null; isNew: boolean }

function written(model: Model, answer: Answer, { number, tag, isNew }: Writing): Predicted {
  const before = model.umbrella
  if (tag !== null && !(before && (tag === '*' || tag === before.tag))) return refused(412)
  if (isNew && before) return refused(412)
  const isHeld = Object.values(model.tenants).some(({ routes }) =>
    routes.some(({ phone_number }) => phone_number === number),
  )
  if (isHeld) return refused(409)
  const written = String(answer.body['etag'])
  model.umbrella = { tag: written, number }
  // The same document again changes nothing.
  if (before?.tag === written) return { status: 200 }
  return { status: 200, told: [audited(before ? 'tenant.changed' : 'tenant.created', UMBRELLA)] }
}

export function deleteTenant({ actor }: Asking): Op {
  return {
    ...{ route: `DELETE ${ROUTE}`, path: `/admin/tenants/${UMBRELLA}`, tenant: UMBRELLA, actor },
    predict(model) {
      if (!model.umbrella) return refused(404)
      model.umbrella = null
      return { status: 200, told: [audited('tenant.deleted', UMBRELLA)] }
    },
  }
}
