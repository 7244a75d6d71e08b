import { Room, type RoomSeat } from './room.ts'

type Conference = { room: Room; end: AbortController }

/** A party's place in a conference; `over` aborts when the conference was ended. */
export type ConferenceSeat = { seat: RoomSeat; over: AbortSignal; leave(): void }

/** The conferences of a carrier by name. One begins with its first party and ends with its last. */
export class Conferences {
  #open = new Map<string, Conference>()

  /** Takes a place. When a party with `endOnExit` leaves, the conference is over for all. */
  join(name: string, { isMuted, endOnExit }: { isMuted: boolean; endOnExit: boolean }): ConferenceSeat {
    const conference = this.#open.get(name) ?? { room: new Room(), end: new AbortController() }
    this.#open.set(name, conference)
    const seat = conference.room.join({ isMuted })
    const leave = () => {
      seat.leave()
      if (!endOnExit && conference.room.parties > 0) return
      if (this.#open.get(name) === conference) this.#open.delete(name)
      conference.end.abort()
    }
    return { seat, over: conference.end.signal, leave }
  }
}
