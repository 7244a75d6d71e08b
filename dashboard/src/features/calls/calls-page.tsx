import { Button } from '@mantine/core'
import { Link, useSearch } from '@tanstack/react-router'
import { lazy, Suspense, useMemo, useState } from 'react'
import { useMay } from '../../api/session.ts'
import { useTenant } from '../../api/tenants.ts'
import { Beneath } from '../../components/beneath.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { Column as Rows } from '../../components/fields.tsx'
import { FilterBar, FilterChoice, FilterDay, FilterLine, FilterSpan, FilterText } from '../../components/filters.tsx'
import { Instant } from '../../components/instant.tsx'
import { ListPage } from '../../components/list-page.tsx'
import { type Column, RowLink } from '../../components/list-table.tsx'
import { TalkLink } from '../../components/talk-link.tsx'
import { DASH, phoneText, words } from '../../components/text.ts'
import { useKeptFocus } from '../../components/use-kept-focus.ts'
import { useList } from '../../components/use-list.ts'
import type { CallFilters } from './call-filters.ts'
import styles from './call-lists.module.css'
import { type CallLog, callsKey, listCalls } from './call-queries.ts'
import { CALL_STATUSES, CallStatus } from './call-status.tsx'
import { agentOf, lengthOf } from './call-text.ts'
import { CampaignFilter } from './campaign-filter.tsx'

const REFRESH_MS = 15_000
const DIRECTIONS = ['inbound', 'outbound', 'browser']

/** The calls of a tenant, newest first. */
export function CallsPage() {
  const tenantId = useTenant()
  const mayPlace = useMay('admin')
  const filters: CallFilters = useSearch({ strict: false })
  const list = useList({
    queryKey: [...callsKey(tenantId), 'list', filters],
    part: (cursor) => listCalls(tenantId, filters, cursor),
    refresh: { everyMs: REFRESH_MS, keyOf },
  })
  const columns = useMemo(() => columnsOf(tenantId), [tenantId])
  return (
    <ListPage
      title="Calls"
      description={
        <>
          Every call that came in or went out, newest first.{' '}
          <Link to="/t/$tenantId/conversations" params={{ tenantId }}>
            Search what was said
          </Link>
        </>
      }
      actions={mayPlace && <PlaceCallButton tenantId={tenantId} />}
      filters={<CallFilterParts tenantId={tenantId} filters={filters} />}
      list={list}
      columns={columns}
      keyOf={keyOf}
      empty={<NoCalls filters={filters} />}
    />
  )
}

/** What a form needs is much of what a page may ask for, so it is loaded when it is opened first. */
const PlaceCall = lazy(async () => ({ default: (await import('./place-call.tsx')).PlaceCall }))

function PlaceCallButton({ tenantId }: { tenantId: string }) {
  const [wasOpened, setOpened] = useState(false)
  const button = (
    <Button size="sm" onClick={() => setOpened(true)}>
      Place a call
    </Button>
  )
  if (!wasOpened) return button
  return (
    <Suspense fallback={button}>
      <PlaceCall tenantId={tenantId} />
    </Suspense>
  )
}

function keyOf(call: CallLog): string {
  return call.call_sid ?? `${call.created_at} ${call.from} ${call.to}`
}

function CallFilterParts({ tenantId, filters }: { tenantId: string; filters: CallFilters }) {
  const { since, until, campaign_id, without_agent } = filters
  // What takes a line away is gone with it.
  const place = useKeptFocus([since, until, campaign_id, without_agent].join())
  return (
    <div ref={place} tabIndex={-1}>
      <Rows>
        <FilterBar>
          <FilterChoice name="status" label="Status" choices={CALL_STATUSES} />
          <FilterChoice name="direction" label="Direction" choices={DIRECTIONS} />
          <FilterText name="from" label="From" placeholder="+12025550123" />
          <FilterText name="to" label="To" placeholder="+12025550100" />
          <FilterText name="agent_key" label="Agent key" />
          <FilterDay name="first_day" label="First day" />
          <FilterDay name="last_day" label="Last day" />
        </FilterBar>
        <FilterSpan />
        <FilterLine names={['without_agent']} leave="Of any agent">
          Of the agent in the tenant's document
        </FilterLine>
        <CampaignFilter tenantId={tenantId} />
      </Rows>
    </div>
  )
}

function NoCalls({ filters: { campaign_id, ...others } }: { filters: CallFilters }) {
  const tenantId = useTenant()
  if (Object.keys(others).length > 0)
    return <EmptyState title="No call is like that">Take a filter away, or ask for more days.</EmptyState>
  if (campaign_id !== undefined)
    return (
      <EmptyState title="No call of that campaign">
        It has called nobody yet, or its calls are not kept any more.
      </EmptyState>
    )
  return (
    <EmptyState title="No calls yet">
      Make one: <TalkLink tenantId={tenantId} after=", or " />
      ring a number that is routed to an agent. In a rehearsal, <span className="mono">npm run call</span> in another
      terminal rings the demo number. <a href="/docs/getting-started">The first call, step by step</a>
    </EmptyState>
  )
}

function columnsOf(tenantId: string): Column<CallLog>[] {
  return [
    { name: 'Begun', cell: (call) => <Begun tenantId={tenantId} call={call} /> },
    { name: 'Status', from: 'tablet', cell: ({ status }) => <CallStatus status={status} /> },
    { name: 'Direction', from: 'desktop', cell: ({ direction }) => words(direction) },
    { name: 'Caller', cell: (call) => <Caller call={call} /> },
    { name: 'Called', from: 'wide', cell: ({ to }) => <span className="numbers">{phoneText(to)}</span> },
    { name: 'Agent', isWritten: true, from: 'desktop', cell: agentOf },
    { name: 'Length', isNumber: true, from: 'desktop', cell: lengthOf },
    { name: 'Summary', from: 'tablet', cell: (call) => <Summary call={call} /> },
  ]
}

function Begun({ tenantId, call }: { tenantId: string; call: CallLog }) {
  return (
    <>
      {call.call_sid === null ? (
        <Instant at={call.created_at} />
      ) : (
        <RowLink to="/t/$tenantId/calls/$callSid" params={{ tenantId, callSid: call.call_sid }}>
          <Instant at={call.started_at ?? call.created_at} />
        </RowLink>
      )}
      <Beneath>
        <CallStatus status={call.status} />
      </Beneath>
      <Beneath until="desktop">
        <span className={styles.beneath}>
          {words(call.direction)}, <bdi>{agentOf(call)}</bdi>, {lengthOf(call)}
        </span>
      </Beneath>
    </>
  )
}

/** Of a call that went out the number of the tenant says little. */
function Caller({ call }: { call: CallLog }) {
  return (
    <>
      <span className="numbers">{phoneText(call.from)}</span>
      {call.direction === 'outbound' && (
        <Beneath until="wide">
          <span className={`numbers ${styles.beneath}`}>to {phoneText(call.to)}</span>
        </Beneath>
      )}
      <Beneath>
        <Summary call={call} />
      </Beneath>
    </>
  )
}

function Summary({ call }: { call: CallLog }) {
  return (
    <span className={styles.summary} dir="auto">
      {call.summary ?? faultIn(call)}
    </span>
  )
}

/** Why a call was not placed, or not carried: one that the carrier never had has no page that could say so. */
function faultIn({ error_code: code, error_message: reason }: CallLog): string {
  return [code, reason].filter((part) => part !== null).join(': ') || DASH
}
