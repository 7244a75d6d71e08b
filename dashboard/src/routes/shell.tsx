import { ActionIcon } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Navigate, Outlet, useNavigate, useParams, useRouterState } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useState } from 'react'
import { personIn, personKey, sessionQuery, useMay, useStandby, whoseIs } from '../api/session.ts'
import { rememberTenant } from '../api/tenants.ts'
import { Icon } from '../components/icon.tsx'
import { LastLooks } from '../components/last-looks.tsx'
import { LateNews } from '../components/late-news.tsx'
import { Note } from '../components/note.tsx'
import { UnsavedChanges } from '../components/unsaved-changes.tsx'
import { ColourSwitch } from './colour-switch.tsx'
import { neededRole } from './navigation.ts'
import { NavigationList } from './navigation-list.tsx'
import { PersonMenu } from './person-menu.tsx'
import { RefusedPage } from './refused-page.tsx'
import styles from './shell.module.css'
import { loadLoginAgain, loadNavigationDrawer, loadShellParts } from './shell-parts.ts'
import { TenantSwitch } from './tenant-switch.tsx'

const LoginAgain = lazy(loadLoginAgain)
const NavigationDrawer = lazy(loadNavigationDrawer)

/** What stands around every page: where one can go, whose it is, who is logged in. */
export function Shell() {
  const { data: session } = useQuery(sessionQuery)
  const { tenantId } = useParams({ strict: false })
  const person = session ? whoseIs(session) : null
  const isOver = session !== undefined && person !== null && personIn(session) === null
  const [wasOver, setOver] = useState(isOver)
  if (isOver && !wasOver) setOver(true)
  if (!session || person === null) return <ToLogin />
  const isOthers = person.tenantId !== null && tenantId !== undefined && tenantId !== person.tenantId
  // Somebody else gets pages of their own, in which nothing stands that was typed before.
  return (
    <UnsavedChanges key={personKey(person)} load={loadShellParts}>
      {isOthers ? (
        <ToOwnPages />
      ) : (
        <LastLooks>
          <Frame />
        </LastLooks>
      )}
      {wasOver && (
        <Suspense>
          <LoginAgain isOpen={isOver} />
        </Suspense>
      )}
    </UnsavedChanges>
  )
}

function Frame() {
  const { tenantId } = useParams({ strict: false })
  const [isOpen, setOpen] = useState(false)
  const [wasOpened, setOpened] = useState(false)
  const close = () => setOpen(false)
  const open = () => {
    setOpened(true)
    setOpen(true)
  }

  useEffect(() => {
    if (tenantId !== undefined) rememberTenant(tenantId)
  }, [tenantId])

  return (
    <div className={styles.shell}>
      <a className={styles.skip} href="#content">
        Skip to the page
      </a>
      <header className={styles.bar}>
        <ActionIcon className={styles.open} variant="subtle" size="lg" aria-label="Pages" onClick={open}>
          <Icon name="menu" size={22} />
        </ActionIcon>
        <Brand />
        <div className={styles.tenant}>
          <TenantSwitch />
        </div>
        <ColourSwitch />
        <PersonMenu />
      </header>
      <aside className={styles.side}>
        <NavigationList />
      </aside>
      {wasOpened && (
        <Suspense>
          <NavigationDrawer isOpen={isOpen} onClose={close} />
        </Suspense>
      )}
      <main id="content" tabIndex={-1} className={styles.content}>
        <StandbyNote />
        <LateNews>
          <AllowedPage />
        </LateNews>
      </main>
    </div>
  )
}

/** For whoever takes a copy for the installation itself: what they do here, nobody's calls know of. */
function StandbyNote() {
  if (!useStandby()) return null
  return (
    <output className={styles.standby}>
      <Note>
        This service stands by: it shows what its database holds and takes changes of configuration, but places, takes
        and steers no calls, and delivers nothing. What is live is on the service that is in use.
      </Note>
    </output>
  )
}

/** The page of the address, unless it is one on which the service would refuse everything. */
function AllowedPage() {
  const needed = useRouterState({ select: ({ matches }) => neededRole(matches.at(-1)?.fullPath ?? '') })
  return useMay(needed) ? <Outlet /> : <RefusedPage needed={needed} />
}

/** Whoever logs in over a page of another tenant has nothing to lose there: what is asked about was typed by who was there before. */
function ToOwnPages() {
  return <Navigate to="/" replace ignoreBlocker />
}

/** Once, from where somebody was: on the way there the address is another one already. */
function ToLogin() {
  const navigate = useNavigate()
  const [from] = useState(() => location.pathname + location.search)
  useEffect(() => {
    void navigate({ to: '/login', search: { return_to: from }, replace: true })
  }, [navigate, from])
  return null
}

function Brand() {
  return (
    <a className={styles.brand} href={import.meta.env.BASE_URL} aria-label="Parley">
      <img src={`${import.meta.env.BASE_URL}icon.svg`} alt="" width={26} height={26} />
      <span>Parley</span>
    </a>
  )
}
