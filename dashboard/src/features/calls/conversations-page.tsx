import { useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useTenant } from '../../api/tenants.ts'
import { Beneath } from '../../components/beneath.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { END_REASONS, endReasonText } from '../../components/end-reason.ts'
import { FilterBar, FilterChoice, FilterDay, FilterText } from '../../components/filters.tsx'
import { Instant } from '../../components/instant.tsx'
import { ListPage } from '../../components/list-page.tsx'
import { type Column, RowLink } from '../../components/list-table.tsx'
import { DASH, words } from '../../components/text.ts'
import { useList } from '../../components/use-list.ts'
import type { ConversationFilters } from './call-filters.ts'
import styles from './call-lists.module.css'
import { type Conversation, callsKey, listConversations } from './call-queries.ts'
import { ScoreBadge } from './call-score.tsx'
import { agentOf, lengthOf } from './call-text.ts'

/** As much as the service looks for. */
const SOUGHT_CHARS = 256

/** The calls of a tenant by what was said in them. */
export function ConversationsPage() {
  const tenantId = useTenant()
  const filters: ConversationFilters = useSearch({ strict: false })
  const list = useList({
    queryKey: [...callsKey(tenantId), 'conversations', filters],
    part: (cursor) => listConversations(tenantId, filters, cursor),
  })
  const columns = useMemo(() => columnsOf(tenantId), [tenantId])
  return (
    <ListPage
      title="Conversations"
      description="Find the calls in which something was said, newest first."
      filters={<ConversationFilterBar />}
      list={list}
      columns={columns}
      keyOf={({ id }) => id}
      empty={<NoConversations filters={filters} />}
    />
  )
}

function ConversationFilterBar() {
  return (
    <FilterBar>
      <FilterText
        name="q"
        label="What was said"
        description="Words, and phrases in double quotes, ten at most: each was said in the call. A word is found as it is spelt: refund does not find refunds."
        placeholder={'refund "next week"'}
        maxLength={SOUGHT_CHARS}
      />
      <FilterChoice name="end_reason" label="How it ended" choices={END_REASONS} textOf={endReasonText} />
      <FilterText name="tag" label="Tag" />
      <FilterText name="from" label="From" placeholder="+12025550123" />
      <FilterText name="to" label="To" placeholder="+12025550100" />
      <FilterText name="agent_key" label="Agent key" />
      <FilterDay name="first_day" label="First day" />
      <FilterDay name="last_day" label="Last day" />
    </FilterBar>
  )
}

function NoConversations({ filters }: { filters: ConversationFilters }) {
  if (filters.q !== undefined)
    return (
      <EmptyState title="That was said in no call">
        Try fewer words or another form of one, or take a filter away. What is said in a call is found as soon as it is
        written down, within a second or two.
      </EmptyState>
    )
  if (Object.keys(filters).length > 0)
    return <EmptyState title="No conversation is like that">Take a filter away, or ask for more days.</EmptyState>
  return (
    <EmptyState title="No conversations yet">
      Each call stands here, and is found by each word that is said in it.
    </EmptyState>
  )
}

function columnsOf(tenantId: string): Column<Conversation>[] {
  return [
    { name: 'Begun', cell: (conversation) => <Begun tenantId={tenantId} conversation={conversation} /> },
    { name: 'Direction', from: 'desktop', cell: ({ direction }) => words(direction) },
    { name: 'Agent', isWritten: true, from: 'desktop', cell: agentOf },
    { name: 'Length', isNumber: true, from: 'desktop', cell: lengthOf },
    { name: 'Score', from: 'tablet', cell: scoreOf },
    { name: 'How it ended', from: 'desktop', cell: ({ end_reason: reason }) => endReasonText(reason) },
    { name: 'Tags', isWritten: true, from: 'wide', cell: ({ tags }) => tags.join(', ') || DASH },
    { name: 'Summary', cell: (conversation) => <Summary conversation={conversation} /> },
  ]
}

function Begun({ tenantId, conversation }: { tenantId: string; conversation: Conversation }) {
  const { call_sid: callSid, started_at: startedAt, direction, end_reason: reason } = conversation
  return (
    <>
      <RowLink to="/t/$tenantId/calls/$callSid" params={{ tenantId, callSid }}>
        {startedAt === null ? 'Never begun' : <Instant at={startedAt} />}
      </RowLink>
      {conversation.qa && <Beneath>{scoreOf(conversation)}</Beneath>}
      <Beneath until="desktop">
        <span className={styles.beneath}>
          {words(direction)}, <bdi>{agentOf(conversation)}</bdi>, {lengthOf(conversation)}, {endReasonText(reason)}
        </span>
      </Beneath>
    </>
  )
}

function scoreOf({ qa }: Conversation) {
  return qa ? <ScoreBadge {...qa} /> : DASH
}

/** With its tags, where those have no column. */
function Summary({ conversation: { summary, tags } }: { conversation: Conversation }) {
  return (
    <>
      <span className={styles.summary} dir="auto">
        {summary ?? DASH}
      </span>
      {tags.length > 0 && (
        <Beneath until="wide">
          <span className={styles.beneath}>{tags.join(', ')}</span>
        </Beneath>
      )}
    </>
  )
}
