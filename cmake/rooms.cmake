# The rooms of src/ and the law about who may include whom.
#
# This table is read twice: here, to link each room with what it may use, and by tools/check_includes, which fails when a
# file includes what its room may not. Keep one `weft_room(...)` per room, lowest room first.
#
#   weft_room(<room> MAY <what>... LIBS <third party>...)
#
# <what> is a room (`state`), a folder of one (`engine/fake`) or one header of one (`scheduler/scheduler.h`): then only that
# folder or header may be included, though the whole room is linked. `*` stands for every room.
# A room may always include itself, and an engine (`engine/local`) also the interface in the files right under `engine`.
# <third party> are keys of weft_third_party() in cmake/third_party.cmake.

weft_room(base      MAY      LIBS fmt)
weft_room(model     MAY base LIBS fmt)
weft_room(state     MAY base model LIBS fmt)
weft_room(placement MAY base model state LIBS fmt)
weft_room(predict   MAY base model LIBS fmt)
weft_room(advise    MAY base model LIBS fmt)
weft_room(policy    MAY base model state placement predict advise LIBS fmt)
weft_room(scheduler MAY base model state placement policy predict LIBS fmt)

weft_room(engine            MAY base model LIBS fmt)
weft_room(engine/fake       MAY base model LIBS fmt)
weft_room(engine/local      MAY base model LIBS fmt spdlog hwloc boost threads dl)
weft_room(engine/slurm      MAY base model LIBS fmt spdlog boost threads)
weft_room(engine/kubernetes MAY base model LIBS fmt spdlog boost json openssl threads)
weft_room(store             MAY base model LIBS fmt json sqlite)

weft_room(service MAY base model store scheduler/scheduler.h LIBS fmt spdlog boost json openssl threads)
weft_room(master  MAY base model service/client LIBS fmt spdlog boost json threads)
weft_room(sim     MAY base model scheduler/scheduler.h engine/fake store predict advise LIBS fmt yaml json zlib)
weft_room(cli     MAY * LIBS fmt spdlog cli11 yaml json boost threads)
