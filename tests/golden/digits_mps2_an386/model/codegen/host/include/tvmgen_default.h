#ifndef TVMGEN_DEFAULT_H_
#define TVMGEN_DEFAULT_H_
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*!
 * \brief Input tensor image size (in bytes) for TVM module "default"
 */
#define TVMGEN_DEFAULT_IMAGE_SIZE 64
/*!
 * \brief Output tensor output size (in bytes) for TVM module "default"
 */
#define TVMGEN_DEFAULT_OUTPUT_SIZE 10
/*!
 * \brief Input tensor pointers for TVM module "default"
 */
struct tvmgen_default_inputs {
    void *image; /* image: int8[1,8,8,1] */
};

/*!
 * \brief Output tensor pointers for TVM module "default"
 */
struct tvmgen_default_outputs {
    void *output; /* probabilities: int8[1,10] */
};

/*!
 * \brief entrypoint function for TVM module "default"
 * \param inputs Input tensors for the module
 * \param outputs Output tensors for the module
 * \return 0, or the first error code; no pointer may be NULL
 */
int32_t tvmgen_default_run(
    struct tvmgen_default_inputs *inputs,
    struct tvmgen_default_outputs *outputs
);

/*!
 * \brief Workspace size for TVM module "default": linked in, the caller owes none of it
 */
#define TVMGEN_DEFAULT_WORKSPACE_SIZE 3072

#ifdef __cplusplus
}
#endif

#endif /* TVMGEN_DEFAULT_H_ */
