import { TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useMay } from '../../api/session.ts'
import { Beneath } from '../../components/beneath.tsx'
import { BrokenAddress } from '../../components/broken-address.tsx'
import { ConfirmAction } from '../../components/confirm-action.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { RowButtons } from '../../components/fields.tsx'
import { Instant } from '../../components/instant.tsx'
import { ListPanel } from '../../components/list-panel.tsx'
import type { Column } from '../../components/list-table.tsx'
import { ModalForm } from '../../components/modal-form.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { words } from '../../components/text.ts'
import { useList } from '../../components/use-list.ts'
import { useSecrets } from '../../components/use-secrets.tsx'
import { ChangeUser } from './change-user.tsx'
import { changeUser, deleteUser, inviteUser, listUsers, type User, type UserRole, usersKey } from './people-queries.ts'
import { RoleChoice } from './role-choice.tsx'
import styles from './users-panel.module.css'

/** The people of a tenant. */
export function UsersPanel({ tenantId }: { tenantId: string }) {
  const hint = 'Give this link to the person. It works for 7 days, and it is shown here and never again.'
  const invitations = useSecrets({ label: 'Invitation link', hint, tenantId })
  const mayChange = useMay('admin')
  const client = useQueryClient()
  const list = useList({ queryKey: usersKey(tenantId), part: (cursor) => listUsers(tenantId, cursor) })

  /** With the link that whoever has this e-mail has to be given, if there is one now. */
  async function after(change: Promise<string>, email: string): Promise<void> {
    const link = await change
    if (link) invitations.show(link, email)
    await client.invalidateQueries({ queryKey: usersKey(tenantId) })
  }

  return (
    <ListPanel
      title="People"
      aside={mayChange && <Invite onInvite={(values) => after(inviteUser(tenantId, values), values.email)} />}
      list={list}
      columns={mayChange ? [...COLUMNS, actionsColumn(after)] : COLUMNS}
      keyOf={({ id }) => id}
      empty={
        <EmptyState title="Nobody yet">
          {mayChange ? 'Invite somebody: they set a password of their own.' : 'An admin of the tenant invites them.'}
        </EmptyState>
      }
    >
      {invitations.shown}
    </ListPanel>
  )
}

const COLUMNS: Column<User>[] = [
  {
    name: 'E-mail',
    cell: ({ email, name }) => (
      <>
        <BrokenAddress address={email} />
        <Beneath until="desktop">
          <span className={styles.name}>{name}</span>
        </Beneath>
      </>
    ),
  },
  { name: 'Name', from: 'desktop', cell: ({ name }) => <div className={styles.beside}>{name}</div> },
  { name: 'Role', cell: ({ role }) => words(role) },
  {
    name: 'Status',
    from: 'tablet',
    cell: ({ status }) => <StatusBadge tone={status === 'active' ? 'good' : 'wait'}>{words(status)}</StatusBadge>,
  },
  { name: 'Last login', from: 'desktop', cell: ({ last_login_at }) => <Instant at={last_login_at} /> },
]

type After = (change: Promise<string>, email: string) => Promise<void>

function actionsColumn(after: After): Column<User> {
  return {
    name: 'Actions',
    isActions: true,
    cell: (user) => (
      <RowButtons>
        <ChangeUser user={user} onChange={(change) => after(changeUser(user, change), user.email)} />
        <ConfirmAction
          label="Invite again"
          about={user.email}
          size="xs"
          onConfirm={() => after(changeUser(user, { invite: true }), user.email)}
        >
          {user.email} is logged out, and sets a new password by a new link.
        </ConfirmAction>
        <ConfirmAction
          label="Delete"
          about={user.email}
          size="xs"
          isGrave
          onConfirm={() =>
            after(
              deleteUser(user).then(() => ''),
              user.email,
            )
          }
        >
          {user.email} is logged out at once, and cannot come back.
        </ConfirmAction>
      </RowButtons>
    ),
  }
}

type Invited = { email: string; name: string; role: UserRole }

function Invite({ onInvite }: { onInvite: (values: Invited) => Promise<void> }) {
  const initial: Invited = { email: '', name: '', role: 'viewer' }
  return (
    <ModalForm label="Invite somebody" submit="Make the invitation" initial={initial} size="xs" onSubmit={onInvite}>
      {({ values, set, fault }) => (
        <>
          <TextInput
            label="E-mail"
            type="email"
            required
            value={values.email}
            error={fault('email')}
            onChange={(event) => set({ email: event.currentTarget.value })}
          />
          <TextInput
            label="Name"
            value={values.name}
            error={fault('name')}
            onChange={(event) => set({ name: event.currentTarget.value })}
          />
          <RoleChoice role={values.role} onChange={(role) => set({ role })} />
        </>
      )}
    </ModalForm>
  )
}
