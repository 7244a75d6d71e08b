import { NativeSelect, Textarea } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { EmptyState } from '../../components/empty-state.tsx'
import { type Fact, Facts } from '../../components/facts.tsx'
import { RowButtons } from '../../components/fields.tsx'
import { FilterBar, FilterChoice } from '../../components/filters.tsx'
import { Instant } from '../../components/instant.tsx'
import { ListPage } from '../../components/list-page.tsx'
import type { Column } from '../../components/list-table.tsx'
import { ModalForm } from '../../components/modal-form.tsx'
import { StatusBadge, type Tone } from '../../components/status-badge.tsx'
import { words } from '../../components/text.ts'
import { useList } from '../../components/use-list.ts'
import { changesIn, changesOver, type Edit, editOf, newerOf } from '../../components/written-over.ts'
import type { AccessFilters } from './access-filters.ts'
import {
  ACCESS_KEY,
  ACCESS_STATUSES,
  type AccessRequest,
  type AccessReview,
  type AccessStatus,
  listRequests,
  readRequest,
  reviewRequest,
} from './access-queries.ts'

const TONES: Record<AccessStatus, Tone> = { open: 'wait', approved: 'good', rejected: 'quiet', spam: 'quiet' }

/** Who would like to use the service. */
export function AccessRequestsPage() {
  const filters: AccessFilters = useSearch({ strict: false })
  const list = useList({
    queryKey: [...ACCESS_KEY, filters],
    part: (cursor) => listRequests(filters, cursor),
  })
  return (
    <ListPage
      title="Access requests"
      description="Who would like to use the service, newest first."
      filters={
        <FilterBar>
          <FilterChoice name="status" label="Status" choices={ACCESS_STATUSES} />
        </FilterBar>
      }
      list={list}
      columns={COLUMNS}
      keyOf={({ id }) => id}
      empty={
        <EmptyState title={filters.status ? 'None is like that' : 'Nobody has asked yet'}>
          Requests come by <span className="mono">POST /api/v1/access-requests</span>, from a form of your own page.
        </EmptyState>
      }
    />
  )
}

const COLUMNS: Column<AccessRequest>[] = [
  { name: 'Came', cell: ({ created_at }) => <Instant at={created_at} /> },
  { name: 'Company', isWritten: true, cell: ({ company_name }) => company_name },
  { name: 'Contact', isWritten: true, from: 'tablet', cell: ({ contact_name }) => contact_name },
  { name: 'E-mail', isWritten: true, from: 'desktop', cell: ({ work_email }) => work_email },
  { name: 'Status', cell: ({ status }) => <StatusBadge tone={TONES[status]}>{words(status)}</StatusBadge> },
  {
    name: 'Actions',
    isActions: true,
    cell: (request) => (
      <RowButtons>
        <Review request={request} />
      </RowButtons>
    ),
  },
]

/** Says what was made of a request. What others say of it meanwhile is not written over unseen. */
function Review({ request }: { request: AccessRequest }) {
  const client = useQueryClient()
  const readReview = async () => reviewOf(await readRequest(request))

  // A review always says a status: one that was not changed is what somebody else may have made of it meanwhile.
  async function review(edit: Edit<AccessReview>): Promise<void> {
    if (Object.keys(changesIn<AccessReview>(edit)).length > 0) {
      const stored = await readReview()
      await reviewRequest(request.id, { status: stored.status, ...changesOver<AccessReview>(edit, stored) })
    }
    await client.invalidateQueries({ queryKey: ACCESS_KEY })
  }

  return (
    <ModalForm
      label="Review"
      about={request.company_name}
      submit="Save the review"
      initial={editOf(reviewOf(request))}
      variant="default"
      size="xs"
      newer={newerOf<AccessReview, Edit<AccessReview>>(async () => editOf(await readReview()))}
      onSubmit={review}
    >
      {({ values, set, fault }) => (
        <>
          <Facts facts={factsOf(request)} />
          <NativeSelect
            label="Status"
            data={ACCESS_STATUSES.map((value) => ({ value, label: words(value) }))}
            value={values.status}
            error={fault('status')}
            onChange={(event) => set({ status: event.currentTarget.value as AccessStatus })}
          />
          <Textarea
            label="Note"
            rows={3}
            value={values.note}
            error={fault('note')}
            onChange={(event) => set({ note: event.currentTarget.value })}
          />
        </>
      )}
    </ModalForm>
  )
}

function reviewOf({ status, metadata: { review_note: note } }: AccessRequest): AccessReview {
  return { status, note: typeof note === 'string' ? note : '' }
}

function factsOf(request: AccessRequest): Fact[] {
  const told: [string, string][] = [
    ['Company', request.company_name],
    ['Contact', request.contact_name],
    ['Role', request.role],
    ['E-mail', request.work_email],
    ['Phone', request.phone],
    ['Website', request.website],
    ['Minutes a month', request.expected_monthly_minutes],
    ['When', request.timeline],
    ['What for', request.use_case],
    ['Came from', request.remote_addr],
  ]
  const reviewed: Fact = ['Reviewed', <Instant key="reviewed" at={request.reviewed_at} />]
  return [...told.map(([name, text]): Fact => [name, text || null]), reviewed]
}
