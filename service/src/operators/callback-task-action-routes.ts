import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, type TObject, Type } from 'typebox'
import { invalidRequest } from '../kernel/errors.ts'
import { actingAs } from '../platform/http/acting-person.ts'
import { tenantOf } from '../platform/http/guards.ts'
import { errorResponses, nullable, Ok, strict } from '../platform/http/schemas.ts'
import { takeNothing } from '../platform/http/take-nothing.ts'
import type { TaskDesk } from './callback-task-desk.ts'
import { Operator, TaskParams } from './callback-task-fields.ts'
import * as moves from './callback-task-moves.ts'
import { CallbackTask, showCallbackTask } from './callback-task-shape.ts'
import { TASK_DISPOSITIONS } from './callback-task-values.ts'
import type { DispatchTask } from './dispatch-task.ts'

const said = (description: string) => Type.Optional(nullable(Type.String({ maxLength: 2_000, description })))
const operator = Type.Optional(nullable(Operator))
const reason = said('Why.')

const ByWhom = strict({ operator: Operator })
const Assign = strict({ operator: Operator, by: operator })
const Noted = strict({ operator, note: said('For the history.') })
const Snooze = strict({
  until: Type.String({ format: 'date-time', description: 'When it is to be open again: later than now.' }),
  reason,
  operator,
})
const Complete = strict({
  disposition: Type.Enum(TASK_DISPOSITIONS, {
    description:
      '`do_not_call`: the number is put on the do-not-call list, too, and its other tasks that wait are cancelled.',
  }),
  notes: Type.Optional(
    nullable(
      Type.String({ maxLength: 10_000, description: 'In place of those that it has; an empty text takes those away.' }),
    ),
  ),
  operator,
})
const Reasoned = strict({ reason, operator })

const Answer = Type.Object({ ok: Ok, task: CallbackTask })

type Deps = { desk: Pick<TaskDesk, 'move'>; dispatch: DispatchTask }

/** Each transition of a callback task. To be registered behind `tenantGuard`. */
export function callbackTaskActionRoutes({ desk, dispatch }: Deps): FastifyPluginAsyncTypebox {
  return async (app) => {
    /** A route that moves a task. */
    function move<Body extends TObject>(
      action: string,
      summary: string,
      body: Body,
      moveOf: (body: Static<Body>, now: Date) => moves.TaskMove,
    ): void {
      app.post(`/api/v1/callback-tasks/:id/${action}`, optionsOf(action, summary, body), async (request) => {
        const { id } = request.params
        const task = await desk.move(tenantOf(request), id, (now) => moveOf(request.body as Static<Body>, now))
        return { ok: true as const, task: showCallbackTask(task) }
      })
    }

    move('acknowledge', 'Say that somebody has seen it', ByWhom, (body, now) => moves.acknowledge(body.operator, now))
    move('claim', 'Take it: of several at once one gets it', ByWhom, (body, now) => moves.claim(body.operator, now))
    move('assign', 'Give it to somebody', Assign, (body, now) => moves.assign(body.operator, body.by ?? null, now))
    move('release', 'Give it back', Noted, (body) => moves.release(actorOf(body)))
    move('snooze', 'Put it off', Snooze, ({ until, ...body }, now) =>
      moves.snooze(laterThan(now, until), body.reason ?? null, body.operator ?? null),
    )
    move('wake', 'Do not put it off any longer', Noted, (body) => moves.wake(actorOf(body)))
    move('complete', 'It is done', Complete, ({ disposition, ...body }, now) =>
      moves.complete({ disposition, notes: body.notes ?? null, operator: body.operator ?? null }, now),
    )
    move('cancel', 'It is not to be done', Reasoned, (body) => moves.cancel(reasoned(body)))
    move('reopen', 'It is to be done again', Reasoned, (body) => moves.reopen(reasoned(body)))

    app.post(
      '/api/v1/callback-tasks/:id/dispatch',
      optionsOf('dispatch', 'Have an agent call the customer', Noted),
      async (request) => {
        const { id } = request.params
        const actor = actorOf(request.body)
        const task = await dispatch(tenantOf(request), id, actor)
        return { ok: true as const, task: showCallbackTask(task) }
      },
    )
  }
}

function optionsOf<Body extends TObject>(action: string, summary: string, body: Body) {
  return {
    // Whom it is assigned to is not who does that.
    preValidation: [takeNothing, actingAs(action === 'assign' ? 'by' : 'operator')],
    schema: {
      tags: ['runtime'],
      summary,
      operationId: `${action}CallbackTask`,
      params: TaskParams,
      body,
      response: { 200: Answer, ...errorResponses },
    },
  }
}

function actorOf({ operator: by, note }: Static<typeof Noted>): moves.Actor {
  return { operator: by ?? null, note: note ?? null }
}

function reasoned({ operator: by, reason: why }: Static<typeof Reasoned>): moves.Actor {
  return { operator: by ?? null, note: why ?? null }
}

/** @throws AppError `invalid_request` for what is over. */
function laterThan(now: Date, until: string): Date {
  const instant = new Date(until)
  if (instant > now) return instant
  throw invalidRequest([{ path: '/body/until', message: 'must be later than now' }])
}
